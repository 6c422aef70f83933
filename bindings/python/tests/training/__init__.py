"""What changes weights: train, fit, streams, methods, populations, federations."""
import source  # noqa: F401, the package on the path
