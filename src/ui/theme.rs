//! How roles look: colours for the terminal at hand, or none; nothing is said by colour alone, so every theme tells the same.

use ratatui::style::{Color, Modifier, Style};

use crate::page::Role;

/// What the terminal can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Theme {
    pub colours: Colours,
    pub ground: Ground,
    pub glyphs: Glyphs,
}

/// How many colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colours {
    /// `NO_COLOR`: bold and faint remain.
    None,
    #[default]
    Sixteen,
    /// The palette of 256.
    Palette,
    True,
}

/// What the terminal's background is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ground {
    #[default]
    Dark,
    Light,
}

/// Which characters it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Glyphs {
    #[default]
    Unicode,
    Ascii,
}

impl Theme {
    /// What the environment says about the terminal; a dark ground unless it says otherwise.
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name| variable(name).filter(|value| !value.is_empty());
        let term = set("TERM").unwrap_or_default();
        let colours = match set("COLORTERM").as_deref() {
            _ if set("NO_COLOR").is_some() || term == "dumb" => Colours::None,
            Some("truecolor" | "24bit") => Colours::True,
            _ if TRUE.iter().any(|name| term.contains(name)) => Colours::True,
            _ if term.contains("256color") => Colours::Palette,
            _ => Colours::Sixteen,
        };
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default().to_lowercase();
        let charset = locale.split_once('.').map(|(_, charset)| charset.replace('-', ""));
        let few = ["dumb", "linux"].contains(&&*term) || term.starts_with("vt");
        let glyphs = if few || charset.is_some_and(|charset| !charset.starts_with("utf8")) { Glyphs::Ascii } else { Glyphs::Unicode };
        // Some terminals leave their colours, foreground;background, by number: 7 and 15 are white.
        let light = set("COLORFGBG").is_some_and(|value| matches!(value.rsplit(';').next(), Some("7" | "15")));
        Self { colours, glyphs, ground: if light { Ground::Light } else { Ground::Dark } }
    }

    /// The same on a background of that colour (red, green, blue).
    pub fn on(self, [red, green, blue]: [u8; 3]) -> Self {
        let bright = u32::from(red) * 299 + u32::from(green) * 587 + u32::from(blue) * 114;
        Self { ground: if bright > 128_000 { Ground::Light } else { Ground::Dark }, ..self }
    }

    pub(super) fn style(&self, role: Role) -> Style {
        let style = match self.colour(role) {
            Some(colour) => Style::new().fg(colour),
            None => Style::new(),
        };
        // Where there is no grey that is sure to be readable, faint is the terminal's own.
        let few = matches!(self.colours, Colours::None | Colours::Sixteen);
        if role == Role::Dim && few { style.add_modifier(Modifier::DIM) } else { style }
    }

    /// The ground of the selected row; few colours have no quiet one.
    pub(super) fn selection(&self) -> Style {
        let style = Style::new().add_modifier(Modifier::BOLD);
        match (self.colours, self.ground) {
            (Colours::None | Colours::Sixteen, _) => style,
            (Colours::Palette, Ground::Dark) => style.bg(Color::Indexed(236)),
            (Colours::Palette, Ground::Light) => style.bg(Color::Indexed(254)),
            (Colours::True, Ground::Dark) => style.bg(Color::Rgb(38, 44, 54)),
            (Colours::True, Ground::Light) => style.bg(Color::Rgb(229, 235, 243)),
        }
    }

    fn colour(&self, role: Role) -> Option<Color> {
        let shades = match role {
            Role::Plain => return None,
            Role::Blocked => BLOCKED,
            Role::Delayed => DELAYED,
            Role::Fine => FINE,
            Role::Accent => ACCENT,
            Role::Dim => DIM,
        };
        let shade = match self.ground {
            Ground::Dark => shades.dark,
            Ground::Light => shades.light,
        };
        match self.colours {
            Colours::None => None,
            Colours::Sixteen => shade.0,
            Colours::Palette => Some(Color::Indexed(shade.1)),
            Colours::True => Some(Color::Rgb(shade.2[0], shade.2[1], shade.2[2])),
        }
    }
}

/// Terminals with all colours that do not say so in COLORTERM, at least not through ssh.
const TRUE: [&str; 6] = ["direct", "kitty", "alacritty", "foot", "wezterm", "ghostty"];

/// One colour as sixteen, 256 and all colours have it.
type Shade = (Option<Color>, u8, [u8; 3]);

struct Shades {
    dark: Shade,
    light: Shade,
}

const BLOCKED: Shades = Shades { dark: (Some(Color::LightRed), 203, [255, 107, 104]), light: (Some(Color::Red), 160, [190, 24, 36]) };
const DELAYED: Shades = Shades { dark: (Some(Color::Yellow), 179, [229, 184, 89]), light: (Some(Color::Yellow), 130, [146, 92, 0]) };
const FINE: Shades = Shades { dark: (Some(Color::Green), 114, [126, 200, 128]), light: (Some(Color::Green), 28, [24, 120, 52]) };
const ACCENT: Shades = Shades { dark: (Some(Color::Cyan), 75, [110, 180, 250]), light: (Some(Color::Blue), 25, [0, 88, 186]) };
const DIM: Shades = Shades { dark: (None, 245, [139, 148, 162]), light: (None, 242, [101, 109, 122]) };

impl Glyphs {
    /// What stands for a cluster of that many cells on this terminal.
    pub(super) fn of(self, cluster: &str, width: usize) -> &str {
        match self {
            Self::Unicode => cluster,
            Self::Ascii if cluster.is_ascii() => cluster,
            Self::Ascii if width == 2 => "??",
            Self::Ascii => ascii(cluster),
        }
    }
}

/// Our own shapes in ASCII; what the cluster wrote in other letters cannot be shown there.
fn ascii(cluster: &str) -> &'static str {
    match cluster {
        "■" | "▁" | "▂" | "▃" | "▄" | "▅" | "▆" | "▇" | "█" => "#",
        "◔" | "…" => "~",
        "○" | "◌" => "o",
        "·" => ".",
        "●" => "*",
        "▲" => "!",
        "‖" => "=",
        "▌" | "›" | "→" | "▸" => ">",
        "←" => "<",
        "↑" => "^",
        "↓" => "v",
        "─" | "–" | "—" => "-",
        "│" => "|",
        "└" => "`",
        "┬" | "┴" | "┼" | "├" | "┤" => "+",
        "✓" => "+",
        "✕" | "×" => "x",
        "“" | "”" => "\"",
        "‘" | "’" => "'",
        _ => "?",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(set: &[(&str, &str)]) -> Theme {
        Theme::detect(|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn the_environment_says_what_a_terminal_can_show() {
        assert_eq!(detected(&[("TERM", "xterm-256color")]).colours, Colours::Palette);
        assert_eq!(detected(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")]).colours, Colours::True);
        assert_eq!(detected(&[("TERM", "xterm-kitty")]).colours, Colours::True);
        assert_eq!(detected(&[("TERM", "xterm")]), Theme::default());
        assert_eq!(detected(&[("COLORTERM", "truecolor"), ("NO_COLOR", "1")]).colours, Colours::None);
        assert_eq!(detected(&[("COLORTERM", "truecolor"), ("NO_COLOR", "")]).colours, Colours::True);
        assert_eq!(detected(&[("LANG", "de_DE.ISO-8859-1")]).glyphs, Glyphs::Ascii);
        assert_eq!(detected(&[("LANG", "de_DE.UTF-8"), ("LC_ALL", "")]).glyphs, Glyphs::Unicode);
        assert_eq!(detected(&[("COLORFGBG", "0;15")]).ground, Ground::Light);
    }

    #[test]
    fn a_bright_background_is_light() {
        assert_eq!(Theme::default().on([253, 246, 227]).ground, Ground::Light);
        assert_eq!(Theme::default().on([0, 43, 54]).ground, Ground::Dark);
    }
}
