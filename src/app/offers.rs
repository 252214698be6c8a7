//! The kinds that a cluster serves and nobody follows, custom ones above all: asked for when the palette is opened, so that an object of any
//! kind can be named there.

/// A kind that is not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    /// As references name it: `Widget.example.net`, `Role`.
    pub kind: String,
    /// As the API does, with its group: `widgets.example.net`.
    pub plural: String,
    /// What one may type for it, in small letters: plural, singular, kind and short names.
    pub words: Vec<String>,
    pub namespaced: bool,
}

/// What is known of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Offers {
    /// Nobody asked yet.
    #[default]
    Unknown,
    Asked,
    Here(Vec<Offered>),
    /// Why they are not known.
    Failed(String),
}

impl Offers {
    pub fn all(&self) -> &[Offered] {
        match self {
            Self::Here(all) => all,
            Self::Unknown | Self::Asked | Self::Failed(_) => &[],
        }
    }

    /// The kind that a word means, with its group or without.
    pub fn named(&self, word: &str) -> Option<&Offered> {
        self.all().iter().find(|offered| offered.answers_to(word))
    }
}

impl Offered {
    /// `widgets.example.net`, `Widget.example.net` or a word alone.
    fn answers_to(&self, word: &str) -> bool {
        let group = self.plural.split_once('.').map_or("", |(_, group)| group);
        let (word, asked) = word.split_once('.').map_or((word, None), |(word, group)| (word, Some(group)));
        asked.is_none_or(|asked| asked == group) && self.words.iter().any(|own| own == word)
    }
}
