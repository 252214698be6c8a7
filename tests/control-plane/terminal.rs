//! A program in a terminal of its own: what its screen shows, and keys sent to it.

use crate::wait::eventually;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

const ROWS: u16 = 40;
const COLUMNS: u16 = 120;

pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    keys: Option<Box<dyn Write + Send>>,
    master: Option<Box<dyn MasterPty + Send>>,
    parser: Arc<Mutex<vt100::Parser>>,
    /// Everything that the program ever wrote.
    written: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Terminal {
    pub fn start(command: &Command) -> Self {
        Self::sized(command, COLUMNS, ROWS)
    }

    pub fn sized(command: &Command, columns: u16, rows: u16) -> Self {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a terminal can be opened");
        let child = pair.slave.spawn_command(builder(command)).expect("the program starts");
        let mut output = pair.master.try_clone_reader().expect("the terminal can be read");
        let side = |count| NonZeroU16::new(count).expect("not zero");
        let parser = Arc::new(Mutex::new(vt100::Parser::new(side(rows), side(columns), 0)));
        let (screen, written) = (Arc::clone(&parser), Arc::default());
        let kept: Arc<Mutex<Vec<u8>>> = Arc::clone(&written);
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 65_536];
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                screen.lock().expect("no panic while held").process(&bytes[..count]);
                kept.lock().expect("no panic while held").extend_from_slice(&bytes[..count]);
            }
        });
        let keys = pair.master.take_writer().expect("the terminal can be written to");
        Self { child, keys: Some(keys), master: Some(pair.master), parser, written, reader: Some(reader) }
    }

    pub fn screen(&self) -> String {
        self.parser.lock().expect("no panic while held").screen().contents()
    }

    /// Everything that the program has written, with its escape sequences.
    pub fn written(&self) -> Vec<u8> {
        self.written.lock().expect("no panic while held").clone()
    }

    /// Whether the program has taken the screen; false again when it gave it back.
    pub fn is_taken(&self) -> bool {
        self.parser.lock().expect("no panic while held").screen().alternate_screen()
    }

    /// The program's process.
    pub fn id(&self) -> u32 {
        self.child.process_id().expect("it was started")
    }

    #[track_caller]
    pub fn wait_for(&self, deadline: Duration, text: &str) {
        eventually(deadline, &format!("the screen shows: {text}"), || {
            let screen = self.screen();
            if screen.contains(text) { Ok(()) } else { Err(screen) }
        });
    }

    pub fn press(&mut self, keys: &str) {
        let pipe = self.keys.as_mut().expect("open until it is dropped");
        pipe.write_all(keys.as_bytes()).and_then(|()| pipe.flush()).expect("the program reads its keys");
    }

    /// The exit code, once the program has ended by itself.
    #[track_caller]
    pub fn await_end(&mut self, deadline: Duration) -> u32 {
        eventually(deadline, "the program ends", || match self.child.try_wait() {
            Ok(Some(status)) => Ok(status.exit_code()),
            Ok(None) => Err("it runs".into()),
            Err(e) => Err(e.to_string()),
        })
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.keys.take();
        self.master.take();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

fn builder(command: &Command) -> CommandBuilder {
    let mut builder = CommandBuilder::new(command.get_program());
    builder.args(command.get_args());
    builder.env_clear();
    for (name, value) in command.get_envs() {
        builder.env(name, value.unwrap_or_default());
    }
    builder.env("TERM", "xterm-256color");
    builder
}
