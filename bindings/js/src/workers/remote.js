// What objects in a worker look like from outside: read by both sides. Getters and methods become
// promises; streams stay async iterators. `signals`: the methods that take {signal, ...}, and which
// argument that is.
export const REMOTE = {
  Transformer: {
    makers: ['loadModel', 'fromNetwork', 'check', 'loadTokenizer'],
    getters: ['info', 'stats', 'network', 'tokenizer'],
    methods: ['generateText', 'chatText', 'tokenize', 'detokenize', 'logits', 'fingerprint',
      'evaluate', 'loadAdapter', 'saveAdapter', 'unloadAdapter', 'mergeAdapter', 'save'],
    streams: ['generate', 'chat', 'train'],
    either: ['createChatCompletion'], // a stream, where its options say so
    signals: { loadModel: 1, loadTokenizer: 1, generateText: 1, chatText: 1, logits: 1,
      fingerprint: 1, evaluate: 1, generate: 1, chat: 1, train: 2, createChatCompletion: 1 },
  },
  Network: {
    makers: ['create', 'load'],
    getters: ['info', 'topology', 'inputs', 'parameters', 'digest'],
    methods: ['initialize', 'copy', 'setInputs', 'cell', 'setCell', 'setLinks', 'enable', 'morph',
        'pack', 'get', 'set', 'program', 'programSha256', 'loadAdapter', 'saveAdapter',
        'unloadAdapter', 'mergeAdapter', 'session', 'trainer', 'forward', 'forwardTokens',
        'forecast', 'save'],
    streams: ['train'],
    signals: { load: 1, forward: 1, forwardTokens: 1, train: 2 },
  },
  Session: {
    makers: ['create'],
    getters: ['info'],
    methods: ['run', 'runIds', 'runTokens'],
    signals: { run: 1, runIds: 1, runTokens: 4 },
  },
  Data: {
    makers: ['values', 'classes', 'ids', 'tokens', 'table'],
    getters: ['info'],
    methods: ['weighted'],
  },
  Trainer: {
    makers: ['create'],
    getters: ['info', 'digest', 'done'],
    methods: ['step', 'stepOn', 'extend', 'save', 'resume'],
    signals: { step: 1, stepOn: 1 },
  },
  Seq2Seq: {
    makers: ['create'],
    getters: ['info'],
    methods: ['encode', 'step', 'reorder', 'search', 'generate'],
    signals: { encode: 1, step: 1, search: 1, generate: 1 },
  },
  StepMesh: {
    makers: ['create'],
    getters: ['info', 'tick'],
    methods: ['run', 'step', 'value', 'reset', 'snapshot', 'restore'],
    signals: { run: 1 },
  },
  Tokenizer: {
    makers: ['parse', 'load', 'train'],
    getters: ['info'],
    methods: ['encode', 'decode', 'token', 'id', 'chat', 'decoder'],
    signals: { load: 1 },
  },
  Decoder: { makers: [], getters: [], methods: ['push', 'finish'] },
  ModelFile: { makers: ['open'], getters: [], methods: ['info', 'hash'] },
  loom: { makers: [], getters: [], methods: ['audit', 'info', 'version', 'numericsVersion',
    'formatInfo', 'liveHandles', 'fakeQuantize', 'gpu', 'verify', 'convert'] },
};
