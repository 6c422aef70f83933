// What all parts of the page share: elements, messages, buttons, drawings.
const SVG = 'http://www.w3.org/2000/svg';

export const $ = (id) => document.getElementById(id);
export const number = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** A fingerprint: green if it equals the golden one, red if it differs, plain if there is no golden
 *  one. */
export function show(element, fingerprint, golden) {
  const equal = fingerprint === golden;
  element.className = golden === undefined ? 'print' : `print ${equal ? 'good' : 'bad'}`;
  element.textContent = golden === undefined ? fingerprint : equal
    ? `\u2713 ${fingerprint}, as on every machine`
      : `\u2717 ${fingerprint}, but elsewhere ${golden}`;
}

export function fail(e) {
  $('status').textContent = `${e.name}: ${e.message}`;
  $('status').className = 'print bad';
}

/** Enables buttons, and calls a function for each at a click. */
export function buttons(handlers) {
  for (const [id, work] of Object.entries(handlers)) {
    $(id).addEventListener('click', (event) => {
      event.preventDefault();
      try {
        work();
      } catch (e) {
        fail(e);
      }
    });
    $(id).disabled = false;
  }
}

/** Calls `frame` before each drawing of the browser, with its time, until it returns false. */
export function everyFrame(frame) {
  const next = (time) => {
    try {
      if (frame(time) !== false) requestAnimationFrame(next);
    } catch (e) {
      fail(e);
    }
  };
  requestAnimationFrame(next);
}

/** An SVG element in another one. */
export function draw(parent, name, attributes = {}, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

/** An arrow along a path; `style` is a class beside `link`. */
export function arrow(svg, path, style = '', more = {}) {
  if (!svg.querySelector('marker')) {
    const marker = draw(draw(svg, 'defs'), 'marker', { id: `${svg.id}-head`, viewBox: '0 0 8 8',
      refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: 'auto',
      markerUnits: 'userSpaceOnUse' });
    draw(marker, 'path', { d: 'M0 0 8 4 0 8z', class: 'head' });
  }
  return draw(svg, 'path', { d: path, class: `link ${style}`, 'marker-end': `url(#${svg.id}-head)`,
    ...more });
}

/** A number as text: all digits of an f32, or as many as are asked for. */
export const digits = (value, precision = 9) => String(Number((value + 0).toPrecision(precision)));
