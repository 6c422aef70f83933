// Learning beside answers, in one thread.
import { errorNamed, known } from './runtime/errors.js';
import { inputRows, numbersOf, rowsOf } from './rows.js';
import { Handled, camel, libraryOf, runNow, snake } from './runtime/runtime.js';
import { dataOf } from './training.js';

/** Learns a copy of a network while it answers (docs/guide/online.md). answer() takes the published
 *  weights; learn() trains a copy of them for as long as it is told, and publishes what it has
 *  learned between two answers. On the CPU: its methods return at once. */
export class Online extends Handled {
  #network;
  #about;
  #last = { first: 0, rows: 0 };

  /** spec: a training spec. Options: docs/reference/options.md, online_create. */
  constructor(network, spec = {}, options = {}) {
    const lib = libraryOf('network', network);
    if (options?.device !== undefined || options?.mode !== undefined)
      throw errorNamed('invalid_argument', 'Online: it learns and answers on the CPU: leave out ' +
        'device and mode');
    super(lib, 'online', lib.call('online_create',
      { network: network.handle, spec: snake(spec), options: snake(options) }).online);
    this.#network = network;
    this.#about = this.info;
  }

  /** task, tasks, outputs, judged, correct, accuracy, steps, inStep, loss, lr, publications,
   *  publishedStep, recent, older; its form and its machine. */
  get info() {
    return camel(this.call('info').info);
  }
  /** Accuracy by window and by task, recovery, forgetting, latency: docs/reference/online.md. */
  get report() {
    return camel(this.call('report').report);
  }
  /** Number of the first answer of the last call of answer(). */
  get last() {
    return this.#last.first;
  }

  /** The output for a row or for rows, in one list, at once, by the published weights. */
  answer(x) {
    const { inputDtype, inputWidth, outputWidth } = this.#about, ids = inputDtype === 'ids';
    const values = ids ? numbersOf(x) : inputRows(x, this.#network.info.input, rowsOf);
    const rows = values.length / inputWidth;
    if (!Number.isInteger(rows) || rows < 1)
      throw errorNamed('invalid_argument',
        `x: ${values.length} numbers: expected rows of ${inputWidth}`);
    const { y, first } = this.call(ids ? 'answer_ids' : 'answer',
      { [ids ? 'ids' : 'x']: values, y: rows * outputWidth });
    this.#last = { first: Number(first), rows };
    return y;
  }
  /** What would have been right: for the answers of the last call of answer(), or for those from
   *  number `answer` on. Classes with the loss cross_entropy, else values as the output has
   *  them. */
  feedback(y, answer) {
    const { classes, places = 1, outputWidth } = this.#about;
    const targets = typeof y === 'number' ? [y] : numbersOf(y);
    const width = classes === undefined ? outputWidth : places;
    if (answer === undefined && targets.length !== this.#last.rows * width)
      throw errorNamed('invalid_argument', `y: ${targets.length} numbers: expected ${width} for ` +
        `each of ${this.#last.rows} answers`);
    const first = answer ?? this.#last.first;
    if (classes === undefined) this.call('feedback', { first, targets: rowsOf(targets) });
    else this.call('feedback_classes', { first, classes: targets });
  }
  #with(data, use) {
    const made = [], { library: lib } = this;
    try {
      return use(runNow(lib, dataOf(this.#network, data, made)));
    } finally {
      for (const handle of made) lib.release(handle);
    }
  }
  /** Samples to learn from that were not answered: Data, {x, y}, {x, classes}, ... */
  add(data) {
    this.#with(data, (handle) => this.call('add', { data: handle }));
  }
  /** Says that the task is another one from now on. Changes that nobody says are detected. */
  changeTask(name) {
    this.call('task', { task: String(name) });
  }
  /** Learns for `ms` milliseconds, or until `steps` steps are complete, and publishes what it has
   *  learned; returns the steps that this call has completed. With `steps` alone the result does
   *  not depend on time. */
  learn(options = {}) {
    const { ms, steps = 0 } = known('learn', options, ['ms', 'steps']);
    if (ms !== undefined && !(ms >= 0))
      throw errorNamed('invalid_argument', `ms: expected at least 0, got ${String(ms)}`);
    const microseconds = ms === undefined ? -1 : Math.floor(Math.min(ms * 1000, 2 ** 50));
    return Number(this.call('learn', { microseconds, steps }).done);
  }
  /** Answers have the weights of the last complete step from now on. */
  publish() {
    this.call('publish');
  }
  /** The share of held samples that the published weights answer correctly; the report keeps it
   *  under the name of a task, the present one where none is given. */
  measure(data, task = this.info.task) {
    return this.#with(data, (handle) =>
      this.call('measure', { data: handle, task: String(task) }).accuracy);
  }
  /** The network has the published weights from now on. */
  commit() {
    this.call('commit');
  }
}
