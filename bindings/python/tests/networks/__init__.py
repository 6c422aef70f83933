"""What a network is: layers, names of inputs, weights, and the files that hold it."""
import source  # noqa: F401, the package on the path
