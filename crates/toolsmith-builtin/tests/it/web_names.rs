//! A name server of the tests' own: a few records, told in the order of the questions.

use std::collections::HashMap;
use std::net::IpAddr;

use tokio::net::UdpSocket;

/// What a name is answered with: one list of addresses after the other, the last one for
/// good. A name in front of `=` is another name for what follows it.
pub(crate) const RECORDS: &[(&str, &[&str])] = &[
    ("public.test", &["8.8.8.8"]),
    ("private.test", &["10.0.0.7"]),
    ("private-too.test", &["192.168.1.1"]),
    ("loopback.test", &["127.0.0.1"]),
    ("mixed.test", &["8.8.8.8 127.0.0.1"]),
    ("mixed-first.test", &["127.0.0.1 8.8.8.8"]),
    ("many.test", &["8.8.8.8 8.8.4.4 1.1.1.1 9.9.9.9 10.0.0.7"]),
    ("six.test", &["8.8.8.8 ::1"]),
    ("six-private.test", &["fd00::7"]),
    ("six-mapped.test", &["::ffff:127.0.0.1"]),
    ("six-translated.test", &["64:ff9b::7f00:1"]),
    ("six-tunnel.test", &["2002:7f00:1::"]),
    ("six-teredo.test", &["2001:0:7f00:1::"]),
    ("six-site.test", &["fec0::7"]),
    ("six-link.test", &["fe80::7"]),
    ("metadata.test", &["169.254.169.254"]),
    ("carrier.test", &["100.64.0.1"]),
    ("zero.test", &["0.0.0.0"]),
    ("benchmark.test", &["198.18.0.1"]),
    ("alias.test", &["= loopback.test"]),
    ("alias-of-alias.test", &["= alias.test"]),
    ("localhost", &["127.0.0.1"]),
    ("app.localhost", &["127.0.0.1"]),
    ("rebinding.test", &["8.8.8.8", "127.0.0.1"]),
    ("rebinding-again.test", &["8.8.8.8", "127.0.0.1"]),
    ("rebinding-late.test", &["8.8.8.8", "8.8.8.8", "10.0.0.7"]),
];

/// The addresses a name is answered with at its n-th question.
pub(crate) fn answer(name: &str, question: usize) -> Option<(Vec<String>, Vec<IpAddr>)> {
    let (mut name, mut aliases) = (name.to_owned(), Vec::new());
    loop {
        let (_, answers) = RECORDS.iter().find(|(known, _)| *known == name)?;
        let answer = answers.get(question).or(answers.last())?;
        match answer.strip_prefix("= ") {
            Some(alias) => {
                aliases.push(std::mem::replace(&mut name, alias.to_owned()));
            }
            None => {
                aliases.push(name);
                let addresses = answer.split(' ').map(|text| text.parse().unwrap());
                return Some((aliases, addresses.collect()));
            }
        }
    }
}

/// Answers questions for as long as the test runs.
pub(crate) async fn serve(address: &str) {
    let socket = UdpSocket::bind(address).await.unwrap();
    tokio::spawn(async move {
        let mut asked: HashMap<(String, u16), usize> = HashMap::new();
        let mut packet = [0; 1500];
        while let Ok((length, from)) = socket.recv_from(&mut packet).await {
            if let Some(reply) = reply(&packet[..length], &mut asked) {
                let _ = socket.send_to(&reply, from).await;
            }
        }
    });
}

const A: u16 = 1;
const CNAME: u16 = 5;
const AAAA: u16 = 28;

fn reply(packet: &[u8], asked: &mut HashMap<(String, u16), usize>) -> Option<Vec<u8>> {
    let (mut labels, mut at) = (Vec::new(), 12);
    while *packet.get(at)? != 0 {
        let length = usize::from(packet[at]);
        labels.push(String::from_utf8_lossy(packet.get(at + 1..at + 1 + length)?).to_lowercase());
        at += 1 + length;
    }
    let question = packet.get(12..at + 5)?;
    let kind = u16::from_be_bytes([packet[at + 1], packet[at + 2]]);
    let name = labels.join(".");
    let times = asked.entry((name.clone(), kind)).or_default();
    let found = answer(&name, *times);
    *times += 1;
    let mut records = Vec::new();
    let mut count: u16 = 0;
    if let Some((aliases, addresses)) = &found {
        for pair in aliases.windows(2) {
            records.extend(record(&pair[0], CNAME, &encoded(&pair[1])));
            count += 1;
        }
        let last = aliases.last()?;
        for address in addresses {
            let (of, bytes) = match address {
                IpAddr::V4(address) => (A, address.octets().to_vec()),
                IpAddr::V6(address) => (AAAA, address.octets().to_vec()),
            };
            if of == kind {
                records.extend(record(last, of, &bytes));
                count += 1;
            }
        }
    }
    let code: u8 = if found.is_some() { 0 } else { 3 };
    let mut reply = vec![packet[0], packet[1], 0x81, 0x80 | code, 0, 1];
    reply.extend(count.to_be_bytes());
    reply.extend([0, 0, 0, 0]);
    reply.extend(question);
    reply.extend(records);
    Some(reply)
}

/// A record that may be kept for no time at all.
fn record(name: &str, kind: u16, data: &[u8]) -> Vec<u8> {
    let mut record = encoded(name);
    record.extend(kind.to_be_bytes());
    record.extend([0, 1, 0, 0, 0, 0]);
    record.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
    record.extend(data);
    record
}

fn encoded(name: &str) -> Vec<u8> {
    let labels = name.split('.');
    let mut encoded: Vec<u8> = labels
        .flat_map(|label| {
            let length = u8::try_from(label.len()).unwrap();
            std::iter::once(length).chain(label.bytes())
        })
        .collect();
    encoded.push(0);
    encoded
}
