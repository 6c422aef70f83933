"""The build backend (PEP 517) of the packages: a wheel is their Python files and libloom.so, which
CMake builds from the source tree around this folder. It needs cmake, ninja or make, and a C++20
compiler; or LOOM_LIBRARY, the path of a libloom.so that is built already. No network."""
import base64
import hashlib
import os
import pathlib
import shutil
import subprocess
import sysconfig
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


PACKAGES = ("welvet", "planetbridging")


def project(section="project"):
    """The flat keys of a section of pyproject.toml: Python before 3.11 has no reader for it."""
    out, inside = {}, False
    for line in (HERE / "pyproject.toml").read_text().splitlines():
        if line.startswith("["):
            inside = line == "[%s]" % section
        elif inside and " = " in line:
            key, value = line.split(" = ", 1)
            out[key] = eval(value, {"__builtins__": {}})  # strings and lists of our own file
    return out


def metadata():
    p = project()
    lines = ["Metadata-Version: 2.1", "Name: " + p["name"], "Version: " + p["version"],
             "Summary: " + p["description"], "Requires-Python: " + p["requires-python"]]
    lines += ["Requires-Dist: " + d for d in p["dependencies"]]
    return "\n".join(lines) + "\nDescription-Content-Type: text/markdown\n\n" + (
        HERE / p["readme"]).read_text()


def tag():
    return "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise SystemExit("failed: %s\n%s" % (" ".join(command), done.stdout[-4000:]))


def missing_tools():
    """What building needs and this machine lacks, in words."""
    def one_of(*commands):
        return any(command and shutil.which(command) for command in commands)

    compiler = os.environ.get("CXX", "").split(" ")[0]
    needs = {"cmake": one_of("cmake"), "ninja or make": one_of("ninja", "make"),
             "a C++20 compiler": one_of(compiler, "c++", "g++", "clang++")}
    return [name for name, there in needs.items() if not there]


def configure(build):
    """CMake's first step. What a failed one leaves behind would stay when the machine has what was
    missing, so it goes."""
    fresh = not (build / "CMakeCache.txt").exists()
    generator = ["-G", "Ninja"] if fresh and shutil.which("ninja") else []
    try:
        run("cmake", "-S", str(ROOT), "-B", str(build), *generator, "-DCMAKE_BUILD_TYPE=Release",
            "-DLOOM_CLI=OFF", "-DLOOM_TESTS=OFF")
    except SystemExit:
        shutil.rmtree(build, ignore_errors=True)
        raise


def check_tools():
    """Ends where a library cannot be built here, before pip fetches anything."""
    given = os.environ.get("LOOM_LIBRARY")
    if given:
        if not os.path.isfile(given):
            raise SystemExit("LOOM_LIBRARY is %s, and there is no such file" % given)
        return
    if not (ROOT / "CMakeLists.txt").exists():
        raise SystemExit(
            "welvet is built inside of Loom's source tree, or with LOOM_LIBRARY set to a "
            "libloom.so")
    missing = missing_tools()
    if missing:
        raise SystemExit(
            "building libloom.so needs %s, which %s not here (Debian, Ubuntu: apt-get install "
            "cmake ninja-build g++); or set LOOM_LIBRARY to a "
                         "libloom.so that is built"
                         % (", ".join(missing), "is" if len(missing) == 1 else "are"))


def library(folder):
    """libloom.so, stripped, in `folder`."""
    target = folder / "libloom.so"
    check_tools()
    given = os.environ.get("LOOM_LIBRARY")
    if given:
        shutil.copy(given, target)
    else:
        build = ROOT / "build/python"
        configure(build)
        run("cmake", "--build", str(build), "--target", "loom_shared", "--parallel",
            os.environ.get("LOOM_JOBS", str(os.cpu_count() or 1)))
        shutil.copy((build / "libloom.so").resolve(), target)
    if shutil.which("strip"):
        run("strip", "--strip-unneeded", str(target))
    return target


def info_files():
    """The folder of the package's metadata, and what is in it but RECORD."""
    p = project()
    scripts = "".join("%s = %s\n" % item for item in project("project.scripts").items())
    return "%s-%s.dist-info" % (p["name"], p["version"]), {
        "METADATA": metadata().encode(),
        "entry_points.txt": ("[console_scripts]\n" + scripts).encode(),
        "WHEEL": ("Wheel-Version: 1.0\nGenerator: welvet\nRoot-Is-Purelib: false\nTag: %s\n"
                  % tag()).encode()}


def write(directory, files):
    """A wheel (PEP 427) of {name: bytes}. Equal files give an equal wheel."""
    folder, info = info_files()
    files = {**files, **{folder + "/" + name: data for name, data in info.items()}}
    record = "".join("%s,sha256=%s,%d\n"
                     % (name, base64.urlsafe_b64encode(
                         hashlib.sha256(data).digest()).decode().rstrip("="), len(data)) for name,
                           data in sorted(files.items()))
    files[folder + "/RECORD"] = (record + folder + "/RECORD,,\n").encode()
    name = "%s-%s.whl" % (folder[:-len(".dist-info")], tag())
    with zipfile.ZipFile(os.path.join(directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in sorted(files.items()):
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if path.endswith(".so") else 0o644) << 16
            wheel.writestr(entry, data)
    return name


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """What pip asks first: so NumPy is found, or is not, before anything is compiled."""
    check_tools()
    folder, info = info_files()
    os.mkdir(os.path.join(metadata_directory, folder))
    for name, data in info.items():
        (pathlib.Path(metadata_directory) / folder / name).write_bytes(data)
    return folder


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = {f.relative_to(HERE).as_posix(): f.read_bytes() for package in PACKAGES
             for f in (HERE / package).rglob("*") if f.suffix == ".py" or f.name == "py.typed"}
    with tempfile.TemporaryDirectory() as folder:
        files["welvet/libloom.so"] = library(pathlib.Path(folder)).read_bytes()
    return write(wheel_directory, files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """`pip install -e`: a path; the library is that of build/release, or LOOM_LIBRARY."""
    return write(wheel_directory, {"welvet.pth": (str(HERE) + "\n").encode()})


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit(
        "welvet has no source distribution: take Loom's source tree and `pip wheel "
        "./bindings/python`")
