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

export function nodeFiles(view) {
  const utf8 = new TextDecoder();
  const open = new Map(); // descriptor of the module: {fd, at, names}
  let next = ROOT + 1;

  const bytes = (at, size) => new Uint8Array(view().buffer, at, size);
  const path = (at, size) => `/${utf8.decode(bytes(at, size).slice())}`;
  // Where a link leads, also to what is not there yet. The module sees no links and no modes
  // (src/base/files/paths.h), so that what it saves keeps them here.
  const linked = (name) => {
    const link = fs.lstatSync(name, { throwIfNoEntry: false })?.isSymbolicLink();
    if (!link) return name;
    return fs.existsSync(name) ? fs.realpathSync(name)
      : paths.resolve(paths.dirname(name), fs.readlinkSync(name));
  };
  // Answers the error's number instead of throwing.
  const guarded = (body) => (...args) => {
    try {
      return body(...args) ?? ERRNO.success;
    } catch (e) {
      if (!e.code) throw e;
      return CODES[e.code] ?? ERRNO.io;
    }
  };
  const file = (fd) => {
    const found = open.get(fd);
    if (!found) throw Object.assign(new Error('closed'), { code: 'EBADF' });
    return found;
  };
  const typeOf = (stat) => (stat.isDirectory() ? TYPE_FOLDER : stat.isFile() ? TYPE_FILE
      : TYPE_OTHER);
  const putStat = (at, stat) => {
    bytes(at, 64).fill(0);
    view().setBigUint64(at + 8, BigInt(stat.ino), true);
    view().setUint8(at + 16, typeOf(stat));
    view().setBigUint64(at + 24, 1n, true);
    view().setBigUint64(at + 32, BigInt(stat.size), true);
  };
  // Reads into, or writes from, the parts of the memory that a call lists.
  const vectors = (at, count, each) => {
    let total = 0;
    for (let i = 0; i < count; ++i) {
      const part = bytes(view().getUint32(at + 8 * i, true),
          view().getUint32(at + 8 * i + 4, true));
      const done = each(part, total);
      total += done;
      if (done < part.length) break;
    }
    return total;
  };

  const calls = {
    fd_prestat_get(fd, at) {
      if (fd !== ROOT) return ERRNO.badf;
      view().setUint32(at, 0, true);
      view().setUint32(at + 4, 1, true);
    },
    fd_prestat_dir_name(fd, at) {
      bytes(at, 1)[0] = 0x2f;
    },
    fd_fdstat_get(fd, at) {
      bytes(at, 24).fill(0);
      view().setUint8(at, fd === ROOT || file(fd).names ? TYPE_FOLDER : TYPE_FILE);
      view().setBigUint64(at + 8, 0xffffffffffffffffn, true);
      view().setBigUint64(at + 16, 0xffffffffffffffffn, true);
    },
    path_open(folder, lookup, at, size, oflags, rights, inheriting, fdflags, result) {
      const name = path(at, size);
      const entry = { fd: -1, at: 0, names: null };
      if (oflags & O_DIRECTORY) {
        entry.names = fs.readdirSync(name, { withFileTypes: true });
      } else {
        const writes = (BigInt(rights) & RIGHT_WRITE) !== 0n,
          reads = (BigInt(rights) & RIGHT_READ) !== 0n;
        const c = fs.constants;
        let flags = (writes ? (reads ? c.O_RDWR : c.O_WRONLY) : c.O_RDONLY) | (c.O_NONBLOCK ?? 0);
        if (oflags & O_CREAT) flags |= c.O_CREAT;
        if (oflags & O_EXCL) flags |= c.O_EXCL;
        if (oflags & O_TRUNC) flags |= c.O_TRUNC;
        entry.fd = fs.openSync(name, flags, 0o644);
      }
      open.set(next, entry);
      view().setUint32(result, next++, true);
    },
    fd_close(fd) {
      const { fd: real } = file(fd);
      open.delete(fd);
      if (real >= 0) fs.closeSync(real);
    },
    fd_filestat_get(fd, at) {
      putStat(at, fs.fstatSync(file(fd).fd));
    },
    path_filestat_get(folder, flags, at, size, result) {
      putStat(result, fs.statSync(path(at, size)));
    },
    fd_pread(fd, list, count, offset, result) {
      const total =
        vectors(list, count,
            (part, done) => fs.readSync(file(fd).fd, part, 0, part.length, Number(offset) + done));
      view().setUint32(result, total, true);
    },
    fd_read(fd, list, count, result) {
      const entry = file(fd);
      const total =
        vectors(list, count,
            (part, done) => fs.readSync(entry.fd, part, 0, part.length, entry.at + done));
      entry.at += total;
      view().setUint32(result, total, true);
    },
    fd_write(fd, list, count, result) {
      const entry = file(fd);
      const total =
        vectors(list, count,
            (part, done) => fs.writeSync(entry.fd, part, 0, part.length, entry.at + done));
      entry.at += total;
      view().setUint32(result, total, true);
    },
    fd_seek(fd, offset, whence, result) {
      const entry = file(fd);
      entry.at = Number(offset)
        + (whence === 0 ? 0 : whence === 1 ? entry.at : fs.fstatSync(entry.fd).size);
      view().setBigUint64(result, BigInt(entry.at), true);
    },
    fd_sync(fd) {
      fs.fsyncSync(file(fd).fd);
    },
    fd_readdir(fd, at, size, cookie, result) {
      const { names } = file(fd);
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
        bytes(at + used, part.length).set(part);
        used += part.length;
      }
      view().setUint32(result, used, true);
    },
    path_create_directory(folder, at, size) {
      fs.mkdirSync(path(at, size));
    },
    path_rename(folder, at, size, toFolder, to, toSize) {
      const from = path(at, size);
      const target = linked(path(to, toSize));
      const old = fs.statSync(target, { throwIfNoEntry: false });
      if (old && (old.mode & 0o222) === 0)
        throw Object.assign(new Error('read-only'), { code: 'EACCES' });
      if (old) fs.chmodSync(from, old.mode & 0o777);
      fs.renameSync(from, target);
    },
    path_unlink_file(folder, at, size) {
      fs.unlinkSync(path(at, size));
    },
  };
  return Object.fromEntries(Object.entries(calls).map(([name, body]) => [name, guarded(body)]));
}
