//! Names: one bad address spoils an answer, and the answer judged is the one used.

use std::sync::Arc;

use toolsmith_net::{Client, ClientLimits, Reach};

use crate::support::{Listener, TellingNames, get_unvetted};

fn client(reach: Reach, names: Arc<TellingNames>) -> Client {
    let limits = ClientLimits {
        connect_timeout: std::time::Duration::from_millis(200),
        ..ClientLimits::default()
    };
    Client::with_names(reach, limits, names).unwrap()
}

#[tokio::test]
async fn one_private_address_among_several_spoils_the_answer() {
    let listener = Listener::saying("reached").await;
    let url = format!("http://mixed.example:{}/", listener.address.port());
    for answer in [
        &["127.0.0.1", "8.8.8.8"][..],
        &["8.8.8.8", "2606:4700::1111", "::ffff:127.0.0.1"][..],
    ] {
        let names = TellingNames::new("mixed.example", &[answer]);
        let told = get_unvetted(client(Reach::public(), names.clone()), &url).await;
        assert!(told.unwrap_err().starts_with("Address: "));
        assert_eq!(names.asked(), 1);
    }
    assert_eq!(listener.connections(), 0);
}

#[tokio::test]
async fn a_name_that_changes_its_answer_gains_nothing() {
    let listener = Listener::saying("reached").await;
    let url = format!("http://rebinding.example:{}/", listener.address.port());
    let reach = Reach::public().and_origin(&url).unwrap();
    // Nobody listens at the second address, so the first answer is the one in use.
    let answers: &[&[&str]] = &[&["127.0.0.1"], &["127.0.0.2"]];
    let names = TellingNames::new("rebinding.example", answers);
    let told = get_unvetted(client(reach, names.clone()), &url).await;
    assert_eq!(told.unwrap(), "reached");
    assert_eq!(names.asked(), 1, "a name is asked once for each connection");
}

#[tokio::test]
async fn a_named_origin_is_reached_wherever_its_name_leads() {
    let listener = Listener::saying("reached").await;
    let url = format!("http://configured.example:{}/", listener.address.port());
    let reach = Reach::public().and_origin(&url).unwrap();
    let names = TellingNames::new("configured.example", &[&["127.0.0.1"]]);
    let client = client(reach, names);
    client.vet(&url).unwrap();
    assert_eq!(get_unvetted(client, &url).await.unwrap(), "reached");
}

#[tokio::test]
async fn a_named_origin_permits_neither_another_port_nor_another_scheme() {
    let named = Listener::saying("named").await;
    let other = Listener::saying("other").await;
    let reach = Reach::public()
        .and_origin(&format!(
            "http://configured.example:{}",
            named.address.port()
        ))
        .unwrap()
        .and_origin(&named.url("/"))
        .unwrap();
    let names = TellingNames::new("configured.example", &[&["127.0.0.1"]]);
    let client = client(reach, names);
    for (url, kind) in [
        (
            format!("http://configured.example:{}/", other.address.port()),
            "Origin",
        ),
        (
            format!("https://configured.example:{}/", named.address.port()),
            "Origin",
        ),
        (other.url("/"), "Address"),
        (format!("https://{}/", named.address), "Address"),
    ] {
        assert!(client.vet(&url).is_err(), "{url}");
        let told = get_unvetted(client.clone(), &url).await.unwrap_err();
        assert!(told.starts_with(kind), "{url}: {told}");
    }
    assert_eq!(named.connections() + other.connections(), 0);
}

#[tokio::test]
async fn a_name_that_imitates_the_gate_leads_nowhere() {
    let spelled: String = "http://example.com/"
        .bytes()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    for name in [
        format!("{spelled}.refused.invalid"),
        "zz.refused.invalid".to_owned(),
    ] {
        let names = TellingNames::new("other.example", &[&["8.8.8.8"]]);
        let told = get_unvetted(client(Reach::public(), names), &format!("http://{name}/")).await;
        assert!(told.unwrap_err().starts_with("not refused: "), "{name}");
    }
}
