// Files for the module in Node: the calls of WASI that Loom uses, on the real file system.
import fs from 'node:fs';
import paths from 'node:path';
import { ERRNO } from './wasi.js';

const ROOT = 3; // the descriptor of "/"; the C library makes all paths relative to it
const O_CREAT = 1, O_DIRECTORY = 2, O_EXCL = 4, O_TRUNC = 8;
const RIGHT_READ = 2n, RIGHT_WRITE = 64n;
const TYPE_FOLDER = 3, TYPE_FILE = 4, TYPE_OTHER = 0;
const CODES = { ENOENT: ERRNO.noent, EEXIST: ERRNO.exist, EISDIR: ERRNO.isdir,
  ENOTDIR: ERRNO.notdir, EACCES: ERRNO.acces, EPERM: ERRNO.perm, EINVAL: ERRNO.inval,
    ENOTEMPTY: ERRNO.notempty, EBADF: ERRNO.badf };

// Where a link leads, also to what is not there yet. The module sees no links and no modes
// (src/base/files/paths.h), so that what it saves keeps them here.
function linked(name) {
  const link = fs.lstatSync(name, { throwIfNoEntry: false })?.isSymbolicLink();
  if (!link) return name;
  return fs.existsSync(name) ? fs.realpathSync(name)
    : paths.resolve(paths.dirname(name), fs.readlinkSync(name));
}
// Answers the error's number instead of throwing.
const guarded = (body) => (...args) => {
  try {
    return body(...args) ?? ERRNO.success;
  } catch (e) {
    if (!e.code) throw e;
    return CODES[e.code] ?? ERRNO.io;
  }
};
const typeOf = (stat) => (stat.isDirectory() ? TYPE_FOLDER : stat.isFile() ? TYPE_FILE
    : TYPE_OTHER);

/** The module's memory and its open files. */
class Files {
  open = new Map(); // descriptor of the module: {fd, at, names}
  #next = ROOT + 1;
  #utf8 = new TextDecoder();

  constructor(view) {
    this.view = view;
  }
  bytes(at, size) {
    return new Uint8Array(this.view().buffer, at, size);
  }
  path(at, size) {
    return `/${this.#utf8.decode(this.bytes(at, size).slice())}`;
  }
  add(entry) {
    this.open.set(this.#next, entry);
    return this.#next++;
  }
  file(fd) {
    const found = this.open.get(fd);
    if (!found) throw Object.assign(new Error('closed'), { code: 'EBADF' });
    return found;
  }
  putStat(at, stat) {
    this.bytes(at, 64).fill(0);
    const view = this.view();
    view.setBigUint64(at + 8, BigInt(stat.ino), true);
    view.setUint8(at + 16, typeOf(stat));
    view.setBigUint64(at + 24, 1n, true);
    view.setBigUint64(at + 32, BigInt(stat.size), true);
  }
  // Reads into, or writes from, the parts of the memory that a call lists.
  vectors(at, count, each) {
    let total = 0;
    for (let i = 0; i < count; ++i) {
      const part = this.bytes(this.view().getUint32(at + 8 * i, true),
          this.view().getUint32(at + 8 * i + 4, true));
      const done = each(part, total);
      total += done;
      if (done < part.length) break;
    }
    return total;
  }
}

/** The flags of Node for those of WASI. */
function flagsOf(oflags, rights) {
  const writes = (BigInt(rights) & RIGHT_WRITE) !== 0n;
  const reads = (BigInt(rights) & RIGHT_READ) !== 0n;
  const c = fs.constants;
  return (writes ? (reads ? c.O_RDWR : c.O_WRONLY) : c.O_RDONLY) | (c.O_NONBLOCK ?? 0)
    | (oflags & O_CREAT ? c.O_CREAT : 0) | (oflags & O_EXCL ? c.O_EXCL : 0)
    | (oflags & O_TRUNC ? c.O_TRUNC : 0);
}

/** Calls about paths. */
const byPath = (files) => ({
  path_open(folder, lookup, at, size, oflags, rights, inheriting, fdflags, result) {
    const name = files.path(at, size), entry = { fd: -1, at: 0, names: null };
    if (oflags & O_DIRECTORY) entry.names = fs.readdirSync(name, { withFileTypes: true });
    else entry.fd = fs.openSync(name, flagsOf(oflags, rights), 0o644);
    files.view().setUint32(result, files.add(entry), true);
  },
  path_filestat_get(folder, flags, at, size, result) {
    files.putStat(result, fs.statSync(files.path(at, size)));
  },
  path_create_directory(folder, at, size) {
    fs.mkdirSync(files.path(at, size));
  },
  path_rename(folder, at, size, toFolder, to, toSize) {
    const from = files.path(at, size);
    const target = linked(files.path(to, toSize));
    const old = fs.statSync(target, { throwIfNoEntry: false });
    if (old && (old.mode & 0o222) === 0)
      throw Object.assign(new Error('read-only'), { code: 'EACCES' });
    if (old) fs.chmodSync(from, old.mode & 0o777);
    fs.renameSync(from, target);
  },
  path_unlink_file(folder, at, size) {
    fs.unlinkSync(files.path(at, size));
  },
});

/** Calls about what a descriptor is. */
const byDescriptor = (files) => ({
  fd_prestat_get(fd, at) {
    if (fd !== ROOT) return ERRNO.badf;
    files.view().setUint32(at, 0, true);
    files.view().setUint32(at + 4, 1, true);
  },
  fd_prestat_dir_name(fd, at) {
    files.bytes(at, 1)[0] = 0x2f;
  },
  fd_fdstat_get(fd, at) {
    files.bytes(at, 24).fill(0);
    files.view().setUint8(at, fd === ROOT || files.file(fd).names ? TYPE_FOLDER : TYPE_FILE);
    files.view().setBigUint64(at + 8, 0xffffffffffffffffn, true);
    files.view().setBigUint64(at + 16, 0xffffffffffffffffn, true);
  },
  fd_close(fd) {
    const { fd: real } = files.file(fd);
    files.open.delete(fd);
    if (real >= 0) fs.closeSync(real);
  },
  fd_filestat_get(fd, at) {
    files.putStat(at, fs.fstatSync(files.file(fd).fd));
  },
  fd_seek(fd, offset, whence, result) {
    const entry = files.file(fd);
    entry.at = Number(offset)
      + (whence === 0 ? 0 : whence === 1 ? entry.at : fs.fstatSync(entry.fd).size);
    files.view().setBigUint64(result, BigInt(entry.at), true);
  },
  fd_sync(fd) {
    fs.fsyncSync(files.file(fd).fd);
  },
  fd_readdir(fd, at, size, cookie, result) {
    const { names } = files.file(fd);
    let used = 0;
    for (let i = Number(cookie); i < names.length && used < size; ++i) {
      const name = new TextEncoder().encode(names[i].name);
      const entry = new Uint8Array(24 + name.length);
      const header = new DataView(entry.buffer);
      header.setBigUint64(0, BigInt(i + 1), true);
      header.setBigUint64(8, 1n, true);
      header.setUint32(16, name.length, true);
      header.setUint8(20, typeOf(names[i]));
      entry.set(name, 24);
      const part = entry.subarray(0, Math.min(entry.length, size - used));
      files.bytes(at + used, part.length).set(part);
      used += part.length;
    }
    files.view().setUint32(result, used, true);
  },
});

/** Calls that read and write. */
const byContent = (files) => ({
  fd_pread(fd, list, count, offset, result) {
    const total =
      files.vectors(list, count,
          (part, done) =>
          fs.readSync(files.file(fd).fd, part, 0, part.length, Number(offset) + done));
    files.view().setUint32(result, total, true);
  },
  fd_read(fd, list, count, result) {
    const entry = files.file(fd);
    const total =
      files.vectors(list, count,
          (part, done) => fs.readSync(entry.fd, part, 0, part.length, entry.at + done));
    entry.at += total;
    files.view().setUint32(result, total, true);
  },
  fd_write(fd, list, count, result) {
    const entry = files.file(fd);
    const total =
      files.vectors(list, count,
          (part, done) => fs.writeSync(entry.fd, part, 0, part.length, entry.at + done));
    entry.at += total;
    files.view().setUint32(result, total, true);
  },
});

/** What an instance imports, on the real file system: `view()` is its memory. */
export function nodeFiles(view) {
  const files = new Files(view);
  const calls = { ...byPath(files), ...byDescriptor(files), ...byContent(files) };
  return Object.fromEntries(Object.entries(calls).map(([name, body]) => [name, guarded(body)]));
}
