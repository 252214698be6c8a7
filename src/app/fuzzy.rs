//! Fuzzy matching, for the palette and for `~` in filters: the letters in order, better where they are together or begin words.

/// How well the words of the query match, each for itself; more is better, none is no match. Both are lower case.
pub fn fuzzy(query: &str, text: &str) -> Option<i32> {
    let text: Vec<char> = text.chars().collect();
    let mut sum = 0;
    for word in query.split_whitespace() {
        sum += score(word, &text)?;
    }
    // Of two equal matches the shorter text is meant.
    Some(sum * 8 - i32::try_from(text.len().min(200)).unwrap_or(200))
}

fn score(word: &str, text: &[char]) -> Option<i32> {
    let word: Vec<char> = word.chars().collect();
    let whole = text.windows(word.len().max(1)).position(|window| window == word);
    if let Some(at) = whole {
        return Some(20 + 4 * count(word.len()) + if begins(text, at) { 10 } else { 0 });
    }
    let (mut sum, mut from, mut last) = (0, 0, None);
    for wanted in word {
        let at = from + text[from..].iter().position(|c| *c == wanted)?;
        let joined = last.is_some_and(|last| last + 1 == at);
        sum += 1 + if joined { 2 } else { 0 } + if begins(text, at) { 3 } else { 0 };
        (from, last) = (at + 1, Some(at));
    }
    Some(sum)
}

fn count(len: usize) -> i32 {
    i32::try_from(len).unwrap_or(i32::MAX / 64)
}

/// Whether a word begins there.
fn begins(text: &[char], at: usize) -> bool {
    at == 0 || !text[at - 1].is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best<'a>(query: &str, of: &[&'a str]) -> Option<&'a str> {
        of.iter().copied().filter_map(|text| Some((fuzzy(query, text)?, text))).max_by_key(|(score, _)| *score).map(|(_, text)| text)
    }

    #[test]
    fn together_beats_scattered_and_short_beats_long() {
        assert_eq!(best("cart", &["c-a-r-t", "pod shop/cart-x", "pod shop/cart"]), Some("pod shop/cart"));
        assert_eq!(best("dep cart", &["deployment shop/cart", "pod dev/cart"]), Some("deployment shop/cart"));
        assert_eq!(best("evt", &["events", "node"]), Some("events"));
        assert_eq!(best("xyz", &["events"]), None);
        assert!(fuzzy("", "anything").is_some());
    }
}
