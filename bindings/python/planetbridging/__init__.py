"""Models of other frameworks as networks of Loom.

    import planetbridging
    absorbed = planetbridging.from_torch(model, (example,))
    absorbed.save("model.entity")
"""
