export const createWorker = null;
