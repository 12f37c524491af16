//! Which addresses are public: the edges of every range.

use std::net::{Ipv4Addr, Ipv6Addr};

use toolsmith_net::is_public;

#[test]
fn addresses_of_no_public_place() {
    let addresses = [
        "0.0.0.0",
        "0.255.255.255",
        "10.0.0.0",
        "10.255.255.255",
        "100.64.0.0",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.255",
        "169.254.0.0",
        "169.254.169.254",
        "172.16.0.0",
        "172.31.255.255",
        "192.0.0.0",
        "192.0.0.170",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.1",
        "192.168.255.255",
        "198.18.0.0",
        "198.19.255.255",
        "198.51.100.7",
        "203.0.113.9",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "::808:808",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::127.0.0.1",
        "64:ff9b::10.1.2.3",
        "64:ff9b:1::808:808",
        "100::1",
        "2001::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "2001:10::1",
        "2001:1ff:ffff::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:808:808::1",
        "3fff::1",
        "3fff:fff:ffff::1",
        "4000::1",
        "5f00::1",
        "fc00::1",
        "fdff:ffff::1",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "feff::1",
        "ff02::1",
        "ffff::1",
        "1::1",
        "::1:0:0:1",
    ];
    for address in addresses {
        assert!(!is_public(address.parse().unwrap()), "{address}");
    }
}

#[test]
fn addresses_next_to_those() {
    let addresses = [
        "1.0.0.0",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.0.3.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "203.0.112.1",
        "203.0.114.1",
        "223.255.255.255",
        "8.8.8.8",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "2001:200::1",
        "2001:db9::1",
        "2003::1",
        "2606:4700::1111",
        "2a00::1",
        "3ffe::1",
        "3fff:1000::1",
    ];
    for address in addresses {
        assert!(is_public(address.parse().unwrap()), "{address}");
    }
}

#[test]
fn an_address_inside_another_is_judged_alike() {
    for bits in (0..=u32::MAX).step_by(0xfffb) {
        let inner = Ipv4Addr::from_bits(bits);
        let mapped = inner.to_ipv6_mapped();
        let [.., g, h] = mapped.segments();
        let translated = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, g, h);
        for outer in [mapped, translated] {
            assert_eq!(is_public(inner.into()), is_public(outer.into()), "{outer}");
        }
        for outer in [
            Ipv6Addr::new(0, 0, 0, 0, 0, 0, g, h),
            Ipv6Addr::new(0x2002, g, h, 0, 0, 0, 0, 1),
            Ipv6Addr::new(0x2001, 0, g, h, 0, 0, !g, !h),
        ] {
            assert!(!is_public(outer.into()), "{outer}");
        }
    }
}
