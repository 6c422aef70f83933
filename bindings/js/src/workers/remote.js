// What objects in a worker look like from outside: read by both sides. Getters and methods become
// promises; streams stay async iterators.
export const REMOTE = {
  Transformer: {
    makers: ['loadModel'],
    getters: ['info', 'stats', 'network', 'tokenizer'],
    methods: ['generateText', 'tokenize', 'detokenize', 'logits', 'fingerprint', 'save'],
    streams: ['generate', 'chat'],
  },
  Network: {
    makers: ['create', 'load'],
    getters: ['info', 'topology', 'parameters', 'digest'],
    methods: ['initialize', 'copy', 'cell', 'setCell', 'setLinks', 'enable', 'morph', 'pack', 'get',
        'set', 'program', 'forward', 'forecast', 'save'],
    streams: ['train'],
  },
  Tokenizer: {
    makers: ['parse', 'load', 'train'],
    getters: ['info'],
    methods: ['encode', 'decode', 'token', 'id', 'chat'],
    streams: [],
  },
  loom: { makers: [], getters: [], methods: ['info', 'version', 'gpu', 'verify'], streams: [] },
};
