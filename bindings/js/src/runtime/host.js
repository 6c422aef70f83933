// What the host is.
export const inNode = typeof process === 'object' && typeof process.versions?.node === 'string';

/** A module worker; `unref` it where it must not hold the process. */
export async function newWorker(url) {
  if (!inNode) return new Worker(url, { type: 'module' });
  const { Worker: NodeWorker } = await import('node:worker_threads');
  return new NodeWorker(url, { execArgv: [] });
}

/** The other side of a worker, from inside: {post, listen}. */
export async function parent() {
  if (!inNode)
    return { post: (message, transfer) => postMessage(message, transfer),
      listen: (receive) => (onmessage = ({ data }) => receive(data)) };
  const { parentPort } = await import('node:worker_threads');
  return { post: (message, transfer) => parentPort.postMessage(message, transfer),
    listen: (receive) => parentPort.on('message', receive) };
}
