//! Configuration: TOML to plain values. All mistakes are reported at once, with their lines, and none keeps the program from starting.

use toml::{Table, Value};

/// What the user configured; `None` leaves it to the terminal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Config {
    pub colours: Option<Colours>,
    pub ground: Option<Ground>,
    pub glyphs: Option<Glyphs>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    None,
    Sixteen,
    Palette,
    True,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    Dark,
    Light,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glyphs {
    Unicode,
    Ascii,
}

/// Reads a configuration: what could be understood, and a sentence for each mistake.
pub fn parse(text: &str) -> (Config, Vec<String>) {
    match text.parse::<Table>() {
        Ok(table) => read(text, &table),
        Err(error) => {
            let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].lines().count().max(1));
            (Config::default(), vec![format!("line {line}: {}", error.message())])
        }
    }
}

fn read(text: &str, table: &Table) -> (Config, Vec<String>) {
    let (mut config, mut mistakes) = (Config::default(), Vec::new());
    for (section, content) in table {
        let keys = match (section.as_str(), content) {
            ("screen", Value::Table(keys)) => keys,
            ("screen", _) => {
                mistakes.push(format!("line {}: screen must be a section, [screen]", line_of(text, section)));
                continue;
            }
            _ => {
                mistakes.push(format!("line {}: there is no section {section}; there is [screen]", line_of(text, section)));
                continue;
            }
        };
        for (key, value) in keys {
            let at = line_of(text, key);
            mistakes.extend(set(&mut config, key, value).err().map(|mistake| format!("line {at}: {mistake}")));
        }
    }
    (config, mistakes)
}

fn set(config: &mut Config, key: &str, value: &Value) -> Result<(), String> {
    match key {
        "colours" => {
            config.colours = choose(
                key,
                value,
                &[("none", Colours::None), ("16", Colours::Sixteen), ("256", Colours::Palette), ("true", Colours::True)],
            )?
        }
        "ground" => config.ground = choose(key, value, &[("dark", Ground::Dark), ("light", Ground::Light)])?,
        "glyphs" => config.glyphs = choose(key, value, &[("unicode", Glyphs::Unicode), ("ascii", Glyphs::Ascii)])?,
        _ => return Err(format!("there is no {key} in [screen]; there are colours, ground and glyphs")),
    }
    Ok(())
}

/// One of the words, or `auto`.
fn choose<T: Copy>(key: &str, value: &Value, choices: &[(&str, T)]) -> Result<Option<T>, String> {
    let word = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match choices.iter().find(|(name, _)| *name == word) {
        Some((_, choice)) => Ok(Some(*choice)),
        None if word == "auto" => Ok(None),
        None => {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            Err(format!("{key} is {word}, but must be auto, {}", names.join(", ")))
        }
    }
}

/// The line on which a key or section is written, counted from 1.
fn line_of(text: &str, name: &str) -> usize {
    let written = |line: &str| line.trim_start().trim_start_matches('[').starts_with(name);
    text.lines().position(written).map_or(1, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_file_is_all_defaults_and_without_mistake() {
        assert_eq!(parse(include_str!("../assets/config.toml")), (Config::default(), Vec::new()));
    }

    #[test]
    fn every_mistake_is_told_with_its_line_and_the_rest_still_counts() {
        let (config, mistakes) = parse("[screen]\ncolours = \"pink\"\nground = \"light\"\n\n[keys]\nquit = \"q\"\n");
        assert_eq!(config.ground, Some(Ground::Light));
        assert_eq!(mistakes.len(), 2);
        assert!(mistakes[0].starts_with("line 2: colours is pink") || mistakes[1].starts_with("line 2: colours is pink"), "{mistakes:?}");
        assert!(mistakes.iter().any(|m| m.starts_with("line 5: there is no section keys")), "{mistakes:?}");
    }

    #[test]
    fn what_is_no_toml_is_a_mistake_and_no_panic() {
        let (config, mistakes) = parse("[screen\n=");
        assert_eq!((config, mistakes.len()), (Config::default(), 1));
    }
}
