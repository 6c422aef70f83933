// A headless Chromium, spoken to by the DevTools protocol over a pipe: no package is needed.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** Arguments for WebGPU on an adapter in software, which Chromium brings. */
export const WEBGPU = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'];

/** The program, or null. LOOM_CHROMIUM names another one. */
export function findChromium() {
  const folders = (process.env.PATH ?? '').split(':');
  const found = NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name)))
    .find((file) => fs.existsSync(file));
  return process.env.LOOM_CHROMIUM ?? found ?? null;
}

export class Browser {
  #process;
  #profile = fs.mkdtempSync(path.join(os.tmpdir(), 'loom-chromium-'));
  #waiting = new Map();
  #last = 0;
  #session;
  log = []; // what pages write to their consoles, and errors that nobody caught

  static async start(program, ...more) {
    const browser = new Browser();
    browser.#process = spawn(program, [
      '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
        '--disable-background-networking', '--disable-component-update',
      '--disable-sync', '--remote-debugging-pipe', `--user-data-dir=${browser.#profile}`, ...more,
        'about:blank',
    ], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    let text = '';
    browser.#process.stdio[4].setEncoding('utf8').on('data', (data) => {
      const messages = (text + data).split('\0');
      text = messages.pop();
      for (const message of messages) browser.#receive(JSON.parse(message));
    });
    browser.#process.on('exit', () => {
      for (const { reject } of browser.#waiting.values()) reject(new Error('Chromium has ended'));
    });
    const { targetInfos } = await browser.#send('Target.getTargets');
    const { targetId } = targetInfos.find((t) => t.type === 'page');
    browser.#session = (await browser.#send('Target.attachToTarget', { targetId, flatten: true }))
      .sessionId;
    for (const domain of ['Page', 'Runtime', 'Log']) await browser.#send(`${domain}.enable`);
    return browser;
  }

  #send(method, params = {}) {
    const id = ++this.#last;
    this.#process.stdio[3].write(
      `${JSON.stringify({ id, method, params, sessionId: this.#session })}\0`);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }
  #receive({ id, result, error, method, params }) {
    if (id !== undefined) {
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error) reject(new Error(error.message));
      else resolve(result);
    } else if (method === 'Runtime.consoleAPICalled') this.log.push(
      params.args.map((a) => a.value ?? a.description).join(' '));
    else if (method === 'Runtime.exceptionThrown')
      this.log.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    else if (method === 'Log.entryAdded') this.log.push(params.entry.text);
  }

  /** A method of the DevTools protocol, of the page. */
  send(method, params) {
    return this.#send(method, params);
  }
  goto(url) {
    return this.#send('Page.navigate', { url });
  }
  /** The value of an expression in the page, a promise's once it is kept. */
  async evaluate(expression) {
    const { result, exceptionDetails } =
      await this.#send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails)
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }
  /** Until an expression holds; its value. */
  async until(expression, seconds = 60) {
    const end = Date.now() + 1000 * seconds;
    for (;;) {
      const value = await this.evaluate(expression).catch(() => null);
      if (value) return value;
      if (Date.now() > end)
        throw new Error(
          `${expression} did not come to hold in ${seconds} s; the page ` +
          `says:\n${this.log.join('\n')}`);
      await new Promise((go) => setTimeout(go, 50));
    }
  }
  resize(width, height) {
    const metrics = { width, height, deviceScaleFactor: 1, mobile: width < 600 };
    return this.#send('Emulation.setDeviceMetricsOverride', metrics);
  }
  async screenshot(file) {
    const { data } = await this.#send('Page.captureScreenshot', { captureBeyondViewport: true });
    fs.writeFileSync(file, Buffer.from(data, 'base64'));
  }
  async close() {
    const ended = new Promise((go) => this.#process.once('exit', go));
    await this.#send('Browser.close').catch(() => this.#process.kill());
    await ended;
    fs.rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** examples/browser/serve.mjs on a port of its own: {url, close}. */
export async function serve() {
  const child = spawn(process.execPath,
      [new URL('../../../examples/browser/serve.mjs', import.meta.url).pathname, '0'],
        { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise((resolve, reject) => {
    child.stdout.once('data', (line) => resolve(String(line).trim()));
    child.once('exit', () => reject(new Error('the server has ended')));
  });
  return { url, close: () => child.kill() };
}
