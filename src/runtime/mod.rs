//! What runs: commands, and the loop that connects input, feeds, judging and drawing. It owns the clock, the channels and the tasks.

pub mod commands;
