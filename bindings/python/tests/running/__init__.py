"""Networks while they run: ticks, slices, observation, saved programs, devices."""
import source  # noqa: F401, the package on the path
