mod frames;
mod redact;
