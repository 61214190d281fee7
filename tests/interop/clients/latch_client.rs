// SPDX-License-Identifier: Apache-2.0
// Candidates that use the LeaderLatch of the crate zookeeper.
//
//     latch_client HOST:PORT
//
// Commands, one a line:
//
//     acquire NAME PATH MILLISECONDS   with a session of that timeout; answers "queued NAME", and "held NAME ID" once
//                                      it leads
//     release NAME                     answers "released NAME"
//
// Answers "ready" first; the end of the input ends the program.
use std::collections::HashMap;
use std::io::BufRead;
use std::sync::Arc;
use std::time::Duration;

use zookeeper::recipes::leader::LeaderLatch;
use zookeeper::{WatchedEvent, ZooKeeper};

fn candidate(server: &str, path: &str, timeout: u64) -> Result<(Arc<ZooKeeper>, LeaderLatch), zookeeper::ZkError> {
    let session = Arc::new(ZooKeeper::connect(server, Duration::from_millis(timeout), |_: WatchedEvent| {})?);
    let latch = LeaderLatch::new(session.clone(), "candidate".into(), path.into());
    latch.start()?;
    Ok((session, latch))
}

// The crate tells nobody who begins to lead.
fn tell_when_it_leads(name: String, latch: LeaderLatch) {
    std::thread::spawn(move || {
        while !latch.has_leadership() {
            std::thread::sleep(Duration::from_millis(20));
        }
        println!("held {} {}", name, latch.path().unwrap_or_default());
    });
}

fn main() {
    let server = std::env::args().nth(1).expect("HOST:PORT");
    let mut candidates = HashMap::new();
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["acquire", name, path, timeout] => match candidate(&server, path, timeout.parse().unwrap_or(10000)) {
                Ok((session, latch)) => {
                    println!("queued {}", name);
                    tell_when_it_leads(name.to_string(), latch.clone());
                    candidates.insert(name.to_string(), (session, latch));
                }
                Err(failure) => println!("failed {} {:?}", name, failure),
            },
            ["release", name] => {
                if let Some((session, latch)) = candidates.remove(*name) {
                    match latch.stop().and_then(|_| session.close()) {
                        Ok(()) => println!("released {}", name),
                        Err(failure) => println!("failed {} {:?}", name, failure),
                    }
                }
            }
            _ => println!("failed {}", line),
        }
    }
    // The sessions' threads go on.
    std::process::exit(0);
}
