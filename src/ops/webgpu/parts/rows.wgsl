fn rows(operand: u32) -> u32 { return P[6u + 4u * operand]; }
