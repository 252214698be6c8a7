//! Kubernetes quantities (`500m`, `2Gi`, `1e3`) with their value and their spelling.

use super::Text;
use std::collections::BTreeMap;

/// An amount of a resource: exact value in thousand-millionths, and the text as it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quantity {
    nano: i128,
    text: Text,
}

/// Amounts by resource name (`cpu`, `memory`, `nvidia.com/gpu`).
pub type Resources = BTreeMap<Text, Quantity>;

const NANO: i128 = 1_000_000_000;

impl Quantity {
    /// Reads any spelling that Kubernetes accepts; `None` where the text is no quantity.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let end = text.find(|c: char| !matches!(c, '0'..='9' | '.' | '+' | '-')).unwrap_or(text.len());
        let (digits, suffix) = text.split_at(end);
        let nano = scale(decimal(digits)?, suffix)?;
        Some(Self { nano, text: text.into() })
    }

    /// A whole number of units.
    pub fn whole(n: i64) -> Self {
        Self { nano: i128::from(n) * NANO, text: n.to_string().into() }
    }

    /// Value in 10⁻⁹ units: `1` is 1,000,000,000.
    pub fn nano(&self) -> i128 {
        self.nano
    }

    /// Value in whole units, rounded up as Kubernetes does.
    pub fn value(&self) -> i128 {
        self.nano.div_euclid(NANO) + i128::from(self.nano.rem_euclid(NANO) != 0)
    }

    /// Value in thousandths (millicores), rounded up.
    pub fn milli(&self) -> i128 {
        let unit = NANO / 1000;
        self.nano.div_euclid(unit) + i128::from(self.nano.rem_euclid(unit) != 0)
    }

    /// The text as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// An amount of 10⁻⁹ units as Kubernetes would write it for this resource: memory in binary units, CPU in millicores.
    pub fn spell(resource: &str, nano: i128) -> String {
        let (sign, n) = if nano < 0 { ("-", -nano) } else { ("", nano) };
        let units = n / NANO;
        if n % NANO != 0 {
            return format!("{sign}{}m", n.div_euclid(NANO / 1000) + i128::from(n % (NANO / 1000) != 0));
        }
        let binary = resource.contains("memory") || resource.contains("storage") || resource.starts_with("hugepages-");
        let sizes = [("Pi", 1_i128 << 50), ("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)];
        for (name, size) in sizes.into_iter().filter(|_| binary) {
            if units >= size && units % size == 0 {
                return format!("{sign}{}{name}", units / size);
            }
        }
        format!("{sign}{units}")
    }
}

/// As many digits as an amount in 10⁻⁹ has room for.
const DIGITS: usize = 29;

/// The decimal number in 10⁻⁹; digits beyond the ninth are rounded up, as Kubernetes does.
fn decimal(text: &str) -> Option<i128> {
    let (negative, text) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() && fraction.is_empty() || whole.len() > DIGITS || !whole.bytes().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut nano = 0_i128;
    for i in 0..9 {
        nano = nano * 10 + i128::from(fraction.as_bytes().get(i).map_or(Some(0), |c| c.is_ascii_digit().then(|| c - b'0'))?);
    }
    let rest = fraction.bytes().skip(9).any(|c| c != b'0');
    let value = whole.checked_mul(NANO)?.checked_add(nano + i128::from(rest))?;
    Some(if negative { -value } else { value })
}

fn scale(nano: i128, suffix: &str) -> Option<i128> {
    let (factor, divisor) = match suffix {
        "" => (1, 1),
        "n" => (1, NANO),
        "u" => (1, 1_000_000),
        "m" => (1, 1000),
        "k" => (1000, 1),
        "M" => (1_000_000, 1),
        "G" => (NANO, 1),
        "T" => (NANO * 1000, 1),
        "P" => (NANO * 1_000_000, 1),
        "E" => (NANO * NANO, 1),
        "Ki" => (1 << 10, 1),
        "Mi" => (1 << 20, 1),
        "Gi" => (1 << 30, 1),
        "Ti" => (1 << 40, 1),
        "Pi" => (1 << 50, 1),
        "Ei" => (1 << 60, 1),
        _ => exponent(suffix)?,
    };
    let product = nano.checked_mul(factor)?;
    Some(product.div_euclid(divisor) + i128::from(product.rem_euclid(divisor) != 0))
}

fn exponent(suffix: &str) -> Option<(i128, i128)> {
    let power: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    let size = 10_i128.checked_pow(power.unsigned_abs()).filter(|_| power.abs() <= 18)?;
    Some(if power < 0 { (1, size) } else { (size, 1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nano(text: &str) -> Option<i128> {
        Quantity::parse(text).map(|q| q.nano())
    }

    #[test]
    fn spellings_of_the_same_amount_are_equal() {
        assert_eq!(nano("1000m"), nano("1"));
        assert_eq!(nano("1000M"), nano("1G"));
        assert_eq!(nano("1e3"), nano("1k"));
        assert_eq!(nano("0.5"), nano("500m"));
        assert_eq!(nano("1Gi"), nano("1073741824"));
        assert_eq!(nano("99999999999999999999M"), nano("99999999999999999999000000"));
    }

    #[test]
    fn what_is_no_quantity_is_refused() {
        for text in ["", "abc", "1.5x", "--1", ".", "1e99"] {
            assert_eq!(nano(text), None, "{text}");
        }
    }

    #[test]
    fn amounts_are_spelled_as_kubernetes_does() {
        assert_eq!(Quantity::spell("memory", 512 * 1024 * 1024 * NANO), "512Mi");
        assert_eq!(Quantity::spell("cpu", NANO / 2), "500m");
        assert_eq!(Quantity::spell("pods", 3 * NANO), "3");
    }
}
