//! How it looks: what the terminal says of itself, changed by the configuration and the command line.

use std::path::PathBuf;

use crate::cli::ScreenArgs;
use crate::config::{self, Config};
use crate::ui::{Colours, Glyphs, Ground, Theme};

/// The theme, and a sentence for each mistake in the configuration.
pub fn theme(args: &ScreenArgs) -> (Theme, Vec<String>) {
    let (config, mistakes) = config(args);
    let mut theme = Theme::detect(|name| std::env::var(name).ok());
    if let Some(colours) = config.colours {
        theme.colours = match colours {
            config::Colours::None => Colours::None,
            config::Colours::Sixteen => Colours::Sixteen,
            config::Colours::Palette => Colours::Palette,
            config::Colours::True => Colours::True,
        };
    }
    if let Some(ground) = config.ground {
        theme.ground = match ground {
            config::Ground::Dark => Ground::Dark,
            config::Ground::Light => Ground::Light,
        };
    }
    if let Some(glyphs) = config.glyphs {
        theme.glyphs = match glyphs {
            config::Glyphs::Unicode => Glyphs::Unicode,
            config::Glyphs::Ascii => Glyphs::Ascii,
        };
    }
    if args.no_color {
        theme.colours = Colours::None;
    }
    (theme, mistakes)
}

/// The file named with `--config`, else the user's, if there is one.
fn config(args: &ScreenArgs) -> (Config, Vec<String>) {
    let Some(path) = args.config.clone().or_else(default_path) else { return (Config::default(), Vec::new()) };
    match std::fs::read_to_string(&path) {
        Ok(text) => {
            let (config, mistakes) = config::parse(&text);
            (config, mistakes.into_iter().map(|mistake| format!("{}: {mistake}", path.display())).collect())
        }
        Err(error) if args.config.is_none() && error.kind() == std::io::ErrorKind::NotFound => (Config::default(), Vec::new()),
        Err(error) => (Config::default(), vec![format!("{} cannot be read: {error}", path.display())]),
    }
}

/// `$XDG_CONFIG_HOME/holdup/config.toml`; an empty variable counts as unset.
fn default_path() -> Option<PathBuf> {
    let set = std::env::var_os("XDG_CONFIG_HOME").filter(|v| !v.is_empty()).map(PathBuf::from);
    let folder = set.or_else(|| Some(std::env::home_dir()?.join(".config")))?;
    Some(folder.join("holdup/config.toml"))
}
