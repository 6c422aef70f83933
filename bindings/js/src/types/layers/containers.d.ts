// Made by tools/generate from the field lists in src: edit those.
// Layers: docs/reference/layers.md.

import type { AnyCell, Cell, Rule } from '../topology.js';

/** Its layers one after another. */
export interface SequentialCell extends AnyCell {
  type: 'sequential';
  /** only for containers: the layers in order, each an object like a cell, or `{"links":
   *  [{"run": cell}]}` for the layer of that cell */
  layers: Cell[];
}

/** Adds the input of the layer before it in the same `sequential`: [A, residual] computes A(x)
 *  + x. */
export interface ResidualCell extends AnyCell {
  type: 'residual';
}

/** Its layers are branches side by side. With `top_k` a row goes only to the branches of its k
 *  largest scores (the first of equal ones), and the softmax is over these. A branch runs on
 *  the rows that go to it: layers that see other rows (attention, `batch_norm`, `dropout`,
 *  gumbel noise, `stateful`) are refused in it. Parameters: `gate` [branches, width],
 *  `gate_bias`, `stitch1` ... */
export interface ParallelCell extends AnyCell {
  type: 'parallel';
  /** `broadcast`: every branch gets the row; `split`: each gets an equal part of it; default
   *  broadcast */
  input?: 'broadcast' | 'split';
  /** how the outputs of the branches are combined; `gated`: weighted by a learned gate, a
   *  mixture of experts; `operands`: as several inputs of the layer after it (from version 2
   *  on); default concat */
  combine?: 'concat' | 'add' | 'avg' | 'gated' | 'grid_scatter' | 'operands';
  /** where branches must have equal widths, a learned matrix projects each to the width of the
   *  first; `false`: other widths are refused. Not for `concat`; default false */
  stitch?: boolean;
  /** of the gate; with `combine` `gated`; above 0, at most 1e6; default 1 */
  temperature?: number;
  /** branches that a row goes to; 0: all; with `combine` `gated`; at least 0; default 0 */
  top_k?: number;
  /** rows and columns; with `combine` `grid_scatter` */
  grid?: number | number[];
  /** row and column of each branch; empty places hold zeros; with `combine` `grid_scatter` */
  places?: number | number[];
  /** only for containers: the layers in order, each an object like a cell, or `{"links":
   *  [{"run": cell}]}` for the layer of that cell */
  layers: Cell[];
}

/** One of several operands of a row: `of` names a part of the network's input, or `index`
 *  counts. */
export interface PartCell extends AnyCell {
  type: 'part';
  /** its name */
  of?: string;
  /** which one, from 0; -1: that of the name `of`; at least -1; default -1 */
  index?: number;
}

/** One layer applied to every part of the row: a part is a row to it. */
export interface TimeDistributedCell extends AnyCell {
  type: 'time_distributed';
  /** parts; 0: the first dimension of the row; at least 0; default 0 */
  count?: number;
  /** only for containers: the layers in order, each an object like a cell, or `{"links":
   *  [{"run": cell}]}` for the layer of that cell */
  layers: Cell[];
}

/** Wraps one layer (`layers` has one; those that acts appended stand behind it) and computes
 *  the same. A session watches the layer's output and changes the layer by `rules`, between
 *  passes; every act is in the session's trace. */
export interface MetacognitionCell extends AnyCell {
  type: 'metacognition';
  /** what is done when, in the order in which rules are tried; `default`: three rules for gain,
   *  deviation and activity */
  rules?: Rule[] | 'default';
  /** passes 0, `every`, 2 x `every`, ... of a session are observed; at least 1; default 1 */
  every?: number;
  /** the output is multiplied by this; 0 to 1; default 1 */
  gate?: number;
  /** trainers leave the weights of the layers as they are; default false */
  frozen?: boolean;
  /** only for containers: the layers in order, each an object like a cell, or `{"links":
   *  [{"run": cell}]}` for the layer of that cell */
  layers: Cell[];
}

/** Forgets the dimensions of a row. */
export interface FlattenCell extends AnyCell {
  type: 'flatten';
}

/** The same values, counted in the same order, with other dimensions. */
export interface ReshapeCell extends AnyCell {
  type: 'reshape';
  /** the new dimensions of a row; one of them may be -1: what is left; at least -1 */
  dims: number | number[];
}
