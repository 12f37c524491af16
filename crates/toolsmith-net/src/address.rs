//! Which addresses are public: a table of those that are not, and why.
//!
//! The tables follow the special-purpose registries of IANA. For version 4 what is not
//! listed is public; for version 6 only global unicast is, and of that what is not
//! listed. An address that carries another one inside is judged by the inner one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// First address, length of the prefix, and what the range is.
type Range<A> = (A, u32, &'static str);

const NOT_PUBLIC_V4: &[Range<Ipv4Addr>] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8, "of this host"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "private"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "of a carrier's network"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "loopback"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "link-local"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "private"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "reserved for protocols"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "for documentation"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "of a 6to4 relay"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "private"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "for benchmarks"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "for documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "for documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "multicast"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "reserved or broadcast"),
];

/// The first that fits counts, so the narrow ranges come first.
const NOT_PUBLIC_V6: &[Range<Ipv6Addr>] = &[
    (v6([0; 8]), 128, "unspecified"),
    (v6([0, 0, 0, 0, 0, 0, 0, 1]), 128, "loopback"),
    (v6([0; 8]), 96, "an IPv4-compatible form"),
    (
        v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0]),
        48,
        "of a local translator",
    ),
    (v6([0x100, 0, 0, 0, 0, 0, 0, 0]), 64, "for discarding"),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0]), 32, "of a Teredo tunnel"),
    (
        v6([0x2001, 0, 0, 0, 0, 0, 0, 0]),
        23,
        "reserved for protocols",
    ),
    (
        v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0]),
        32,
        "for documentation",
    ),
    (v6([0x2002, 0, 0, 0, 0, 0, 0, 0]), 16, "of a 6to4 tunnel"),
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0]), 20, "for documentation"),
    (v6([0x5f00, 0, 0, 0, 0, 0, 0, 0]), 16, "of a segment route"),
    (v6([0xfc00, 0, 0, 0, 0, 0, 0, 0]), 7, "private"),
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0]), 10, "link-local"),
    (v6([0xfec0, 0, 0, 0, 0, 0, 0, 0]), 10, "site-local"),
    (v6([0xff00, 0, 0, 0, 0, 0, 0, 0]), 8, "multicast"),
];

const GLOBAL_UNICAST: Range<Ipv6Addr> = (v6([0x2000, 0, 0, 0, 0, 0, 0, 0]), 3, "");
const MAPPED: Range<Ipv6Addr> = (v6([0, 0, 0, 0, 0, 0xffff, 0, 0]), 96, "");
const NAT64: Range<Ipv6Addr> = (v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0]), 96, "");

/// Tells whether an address can be reached from everywhere, and so belongs to nobody's inside.
pub fn is_public(address: IpAddr) -> bool {
    why_not_public(address).is_none()
}

/// Returns what keeps an address from being public: "127.0.0.1 is …".
pub(crate) fn why_not_public(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => why_not_public_v4(address),
        IpAddr::V6(address) => why_not_public_v6(address),
    }
}

fn why_not_public_v4(address: Ipv4Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    let range = NOT_PUBLIC_V4
        .iter()
        .find(|(first, length, _)| (bits ^ first.to_bits()).leading_zeros() >= *length);
    range.map(|(_, _, what)| *what)
}

fn why_not_public_v6(address: Ipv6Addr) -> Option<&'static str> {
    if lies_in(address, &MAPPED) || lies_in(address, &NAT64) {
        let [.., a, b, c, d] = address.octets();
        return why_not_public_v4(Ipv4Addr::new(a, b, c, d));
    }
    let range = NOT_PUBLIC_V6.iter().find(|range| lies_in(address, range));
    match range {
        Some((_, _, what)) => Some(what),
        None if lies_in(address, &GLOBAL_UNICAST) => None,
        None => Some("not assigned"),
    }
}

fn lies_in(address: Ipv6Addr, (first, length, _): &Range<Ipv6Addr>) -> bool {
    (address.to_bits() ^ first.to_bits()).leading_zeros() >= *length
}

const fn v6(groups: [u16; 8]) -> Ipv6Addr {
    let [a, b, c, d, e, f, g, h] = groups;
    Ipv6Addr::new(a, b, c, d, e, f, g, h)
}
