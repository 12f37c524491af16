//! The guarded client goes to public addresses alone, however another one is spelled.
//!
//! What is public is decided here a second time, from the standard library and the
//! registries rather than from the client's own table.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use toolsmith_net::{Client, ClientLimits, Method, Reach, is_public};
use url::{Host, Url};

static CLIENT: LazyLock<Client> = LazyLock::new(|| {
    Client::new(Reach::public(), ClientLimits::default()).expect("a client can be made")
});

/// Checks the input as a URL, as the host of one, and as an address in every spelling.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    reached(&text);
    reached(&format!("http://{text}/"));
    reached(&format!("https://user@{text}"));
    if let Some(octets) = bytes.first_chunk::<4>() {
        let address = Ipv4Addr::from(*octets);
        agreed(address.into());
        if !is_routable_v4(address) {
            for host in spellings(address, bytes.get(4).copied().unwrap_or_default()) {
                let url = format!("http://{host}/");
                let refused = CLIENT.vet(&url).is_err();
                assert!(refused, "{url} leads to {address}");
            }
        }
    }
    if let Some(octets) = bytes.first_chunk::<16>() {
        agreed(Ipv6Addr::from(*octets).into());
    }
}

/// Whatever the client would ask for is what it seems to be.
fn reached(text: &str) {
    let Ok(request) = CLIENT.request(Method::GET, text) else {
        return;
    };
    let url = Url::parse(text).expect("what is asked for is a URL");
    assert!(matches!(url.scheme(), "http" | "https"), "{url}");
    assert!(
        url.username().is_empty() && url.password().is_none(),
        "{url}"
    );
    if let Ok(request) = request.build() {
        assert_eq!(request.url().as_str(), url.as_str(), "it is the one judged");
    }
    match url.host() {
        Some(Host::Ipv4(address)) => assert!(is_routable_v4(address), "{url}"),
        Some(Host::Ipv6(address)) => assert!(is_routable_v6(address), "{url}"),
        // A name is judged by what it is resolved to; it must not be an address in disguise.
        Some(Host::Domain(name)) => {
            let bare = name.strip_suffix('.').unwrap_or(name);
            assert!(bare.parse::<IpAddr>().is_err(), "{url}");
        }
        None => panic!("{url} has no host"),
    }
}

fn agreed(address: IpAddr) {
    let expected = match address {
        IpAddr::V4(address) => is_routable_v4(address),
        IpAddr::V6(address) => is_routable_v6(address),
    };
    // The client may be stricter where the registries name an exception.
    assert!(expected || !is_public(address), "{address} is not public");
    let url = match address {
        IpAddr::V4(address) => format!("http://{address}/"),
        IpAddr::V6(address) => format!("http://[{address}]/"),
    };
    assert_eq!(CLIENT.vet(&url).is_ok(), is_public(address), "{url}");
}

/// Ways to write an address that browsers and resolvers understand.
fn spellings(address: Ipv4Addr, choice: u8) -> Vec<String> {
    let [a, b, c, d] = address.octets();
    let number = address.to_bits();
    let (low, last) = (number & 0xff_ffff, number & 0xffff);
    let wide: String = (address.to_string().chars())
        .map(|c| match c {
            '0'..='9' => char::from_u32(c as u32 - '0' as u32 + 0xff10).unwrap_or(c),
            _ => '\u{3002}',
        })
        .collect();
    let escaped: String = (address.to_string().bytes())
        .map(|byte| format!("%{byte:02x}"))
        .collect();
    let zeros = "0".repeat(usize::from(choice % 9));
    vec![
        format!("{address}"),
        format!("{address}."),
        format!("{number}"),
        format!("{number:#x}"),
        format!("0{number:o}"),
        format!("{a:#x}.{b:#X}.{c:#x}.{d:#x}").replace("0X", "0x"),
        format!("0{zeros}{a:o}.0{b:o}.{c}.{d:#x}"),
        format!("{a}.{low}"),
        format!("{a}.{b}.{last:#x}"),
        format!("0x{zeros}{a:x}.{b}.{last}"),
        wide,
        escaped,
        format!("[::ffff:{address}]"),
        format!("[::ffff:{:x}:{:x}]", number >> 16, last),
        format!("[64:ff9b::{address}]"),
        format!("[::{address}]"),
        format!("[2002:{:x}:{:x}::1]", number >> 16, last),
    ]
}

fn is_routable_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let reserved = address.is_unspecified()
        || address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast();
    let shared = a == 100 && (64..128).contains(&b);
    let benchmarks = a == 198 && (b == 18 || b == 19);
    let protocols = (a, b, c) == (192, 0, 0);
    !(reserved || shared || benchmarks || protocols || a == 0 || a >= 240)
}

fn is_routable_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = address.to_ipv4_mapped() {
        return is_routable_v4(inner);
    }
    let groups = address.segments();
    if groups[..6] == [0x64, 0xff9b, 0, 0, 0, 0] {
        let [.., a, b, c, d] = address.octets();
        return is_routable_v4(Ipv4Addr::new(a, b, c, d));
    }
    let reserved = address.is_unspecified()
        || address.is_loopback()
        || address.is_multicast()
        || address.is_unique_local()
        || address.is_unicast_link_local();
    let tunnels = groups[0] == 0x2002 || groups[..2] == [0x2001, 0];
    let documentation = groups[..2] == [0x2001, 0xdb8] || groups[0] == 0x3fff && groups[1] < 0x1000;
    let global = (0x2000..0x4000).contains(&groups[0]);
    global && !(reserved || tunnels || documentation)
}
