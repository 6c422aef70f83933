"""What the modules of the package share: the library below, its errors, arrays that go in and
out."""
