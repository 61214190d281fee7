// SPDX-License-Identifier: Apache-2.0
// Contenders that use the crate rslock.
//
//     rslock_client HOST:PORT
//
// Commands, one a line:
//
//     acquire NAME KEY MILLISECONDS   answers "held NAME"
//     release NAME                    answers "released NAME"
//
// Answers "ready" first; the end of the input ends the program.
use std::collections::HashMap;
use std::io::BufRead;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rslock::{Lock, LockManager};

type Held = Arc<Mutex<HashMap<String, Lock>>>;

fn in_background(work: impl std::future::Future<Output = ()> + Send + 'static) {
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(work);
    });
}

// A connection belongs to the runtime that opened it.
fn manager(server: &str) -> LockManager {
    LockManager::new(vec![format!("redis://{}/", server)])
}

async fn acquire(server: String, name: String, key: String, lease: Duration, held: Held) {
    let manager = manager(&server);
    loop {
        match manager.lock(key.as_str(), lease).await {
            Ok(lock) => {
                held.lock().unwrap().insert(name.clone(), lock);
                println!("held {}", name);
                return;
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn release(server: String, name: String, held: Held) {
    let lock = held.lock().unwrap().remove(&name);
    if let Some(lock) = lock {
        manager(&server).unlock(&lock).await;
        println!("released {}", name);
    }
}

fn main() {
    let server = std::env::args().nth(1).expect("HOST:PORT");
    let held = Held::default();
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["acquire", name, key, milliseconds] => {
                let lease = Duration::from_millis(milliseconds.parse().unwrap_or(30000));
                in_background(acquire(server.clone(), name.to_string(), key.to_string(), lease, held.clone()));
            }
            ["release", name] => in_background(release(server.clone(), name.to_string(), held.clone())),
            _ => println!("failed {}", line),
        }
    }
    std::process::exit(0);
}
