// SPDX-License-Identifier: Apache-2.0
// Contenders that use the lock of the crate zookeeper-client, each with a session of its own.
//
//     zookeeper_client HOST:PORT
//
// Commands, one a line:
//
//     acquire NAME DIRECTORY PREFIX   the node is PREFIX and ten digits; answers "held NAME"
//     release NAME                    answers "released NAME"
//
// Answers "ready" first; the end of the input ends the program.
use std::collections::HashMap;
use std::io::BufRead;
use std::sync::mpsc::{channel, Receiver, Sender};
use std::time::Duration;

use zookeeper_client::{Acls, Client, CreateMode, Error, LockOptions, LockPrefix};

async fn hold(server: String, name: String, directory: String, prefix: String, over: Receiver<()>) -> Result<(), Error> {
    let client = Client::connector().with_session_timeout(Duration::from_secs(10)).connect(&server).await?;
    let path = format!("{}/{}", directory, prefix);
    let parents = CreateMode::Persistent.with_acls(Acls::anyone_all());
    let options = LockOptions::new(Acls::anyone_all()).with_ancestor_options(parents)?;
    let lock = client.lock(LockPrefix::new_shared(&path)?, name.as_bytes(), options).await?;
    println!("held {}", name);
    while over.try_recv().is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // The node is deleted in the background; the end of the session waits for nothing.
    let node = lock.lock_path().to_string();
    drop(lock);
    while client.check_stat(&node).await?.is_some() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    println!("released {}", name);
    Ok(())
}

fn main() {
    let server = std::env::args().nth(1).expect("HOST:PORT");
    let mut ends: HashMap<String, Sender<()>> = HashMap::new();
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap_or_default();
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        match (words.first().map(String::as_str), words.len()) {
            (Some("acquire"), 4) => {
                let (end, over) = channel();
                ends.insert(words[1].clone(), end);
                let server = server.clone();
                std::thread::spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                    let name = words[1].clone();
                    let work = hold(server, name.clone(), words[2].clone(), words[3].clone(), over);
                    if let Err(failure) = runtime.expect("a runtime").block_on(work) {
                        println!("failed {} {:?}", name, failure);
                    }
                });
            }
            (Some("release"), 2) => {
                let _ = ends.get(&words[1]).map(|end| end.send(()));
            }
            _ => println!("failed {}", line),
        }
    }
    std::process::exit(0);
}
