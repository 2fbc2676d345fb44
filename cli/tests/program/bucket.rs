//! Trees in buckets: what is written to `s3://` and read of it, at a server of these tests' own and at moto's.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use crate::binary::{command, files, folder, orthant, text};

/// The folder for temporary files of a test, each of which has a thread of its own.
fn temporary(folder: &Path) -> PathBuf {
    let thread = std::thread::current();
    folder.join(thread.name().unwrap_or("temporary").replace("::", "-"))
}

/// A command that knows a server and a key, which may stand behind the server's URL.
fn cloud(folder: &Path, endpoint: &str, arguments: &str) -> Command {
    let mut command = command(folder, arguments);
    // A proxy would be asked for this machine.
    for name in
        ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "AWS_ENDPOINT_URL_S3"]
    {
        command.env_remove(name);
    }
    let temporary = temporary(folder);
    std::fs::create_dir_all(&temporary).unwrap();
    let (endpoint, keys) = endpoint.split_once(' ').unwrap_or((endpoint, "key a-secret token"));
    command.env("TMPDIR", temporary).env("AWS_ENDPOINT_URL", endpoint).env("AWS_REGION", "us-east-1");
    let names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];
    let mut keys = keys.split(' ');
    for name in names {
        command.env(name, keys.next().unwrap_or_default());
    }
    command
}

fn ask(folder: &Path, endpoint: &str, arguments: &str) -> Output {
    cloud(folder, endpoint, arguments).output().unwrap()
}

fn done(folder: &Path, endpoint: &str, arguments: &str) -> Vec<u8> {
    let output = ask(folder, endpoint, arguments);
    assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
    output.stdout
}

fn refused(folder: &Path, endpoint: &str, arguments: &str, code: i32, words: &str) -> String {
    let output = ask(folder, endpoint, arguments);
    let error = text(&output.stderr);
    assert!(output.status.code() == Some(code) && error.contains(words), "{arguments}: {:?} {error}", output.status);
    assert!(!error.contains("a-secret") && !error.contains("panicked"), "{error}");
    error
}

/// A request: method, path with query.
type Asked = (String, String);

/// What a rule answers instead: a status and a body.
type Rule = dyn Fn(&Asked, usize) -> Option<(u16, &'static str)> + Send + Sync;

/// A server with one bucket, `bucket`.
struct Bucket {
    endpoint: String,
    objects: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Bucket {
    fn start(rule: impl Fn(&Asked, usize) -> Option<(u16, &'static str)> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let (objects, asked) =
            (Arc::<Mutex<BTreeMap<String, Vec<u8>>>>::default(), Arc::<Mutex<Vec<Asked>>>::default());
        let (there, list, rule): (_, _, Arc<Rule>) = (objects.clone(), asked.clone(), Arc::new(rule));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (there, list, rule) = (there.clone(), list.clone(), rule.clone());
                std::thread::spawn(move || while serve(&stream, &there, &list, &*rule).is_some() {});
            }
        });
        Self { endpoint, objects, asked }
    }

    fn keys(&self) -> Vec<String> {
        self.objects.lock().unwrap().keys().cloned().collect()
    }
}

/// Answers one request; None if the connection has ended.
fn serve(
    stream: &TcpStream,
    objects: &Mutex<BTreeMap<String, Vec<u8>>>,
    asked: &Mutex<Vec<Asked>>,
    rule: &Rule,
) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|&read| read > 0)?;
    let mut words = line.split(' ').map(str::to_owned);
    let this = (words.next()?, words.next()?);
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    assert!(headers["authorization"].contains("Credential=key/") && headers["x-amz-security-token"] == "token");
    let number = {
        let mut asked = asked.lock().unwrap();
        asked.push(this.clone());
        asked.len() - 1
    };
    let (path, query) = this.1.split_once('?').unwrap_or((&this.1, ""));
    let key = path.trim_start_matches("/bucket").trim_start_matches('/').to_owned();
    let mut objects = objects.lock().unwrap();
    let (status, range, found) = match (rule(&this, number), &*this.0) {
        (Some((status, text)), _) => (status, String::new(), text.as_bytes().to_vec()),
        (None, "GET") if key.is_empty() => {
            let prefix = query.split('&').find_map(|pair| pair.strip_prefix("prefix=")).unwrap().replace("%2F", "/");
            let keys = objects.keys().filter(|key| key.starts_with(&prefix));
            let keys: String = keys.map(|key| format!("<Contents><Key>{key}</Key></Contents>")).collect();
            (200, String::new(), format!("<ListBucketResult>{keys}</ListBucketResult>").into_bytes())
        }
        (None, "PUT") if headers.contains_key("if-none-match") && objects.contains_key(&key) => {
            (412, String::new(), Vec::new())
        }
        (None, "PUT") => {
            objects.insert(key, body);
            (200, String::new(), Vec::new())
        }
        (None, "DELETE") => {
            objects.remove(&key);
            (204, String::new(), Vec::new())
        }
        (None, _) => match (objects.get(&key), headers.get("range")) {
            (None, _) => (404, String::new(), Vec::new()),
            (Some(all), None) => (200, String::new(), all.clone()),
            (Some(all), Some(range)) => {
                let (first, last) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
                let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
                let last = last.min(all.len() - 1);
                let said = format!("Content-Range: bytes {first}-{last}/{}\r\n", all.len());
                (206, said, all[first..=last].to_vec())
            }
        },
    };
    let head = this.0 == "HEAD";
    let mut answer =
        format!("HTTP/1.1 {status} A\r\nETag: \"a\"\r\n{range}Content-Length: {}\r\n\r\n", found.len()).into_bytes();
    if !head {
        answer.extend(found);
    }
    (&mut &*stream).write_all(&answer).ok()
}

/// A folder with two trees, each as a zip and as a folder; made once.
fn trees() -> &'static Path {
    static TREES: OnceLock<PathBuf> = OnceLock::new();
    TREES.get_or_init(|| {
        let folder = folder("bucket");
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            (state >> 24) as u8
        };
        // More than one part of an upload.
        std::fs::write(folder.join("noise.raw"), (0..3300 * 3000).map(|_| next()).collect::<Vec<_>>()).unwrap();
        for arguments in [
            "tree build noise.raw --dtype u8 -n 3300x3000 -o large.tree.zarr.zip",
            "run mandelbrot -n 256 -o small.tree.zarr",
            "tree convert small.tree.zarr small.tree.zarr.zip",
        ] {
            let output = orthant(&folder, arguments);
            assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
        }
        folder
    })
}

const QUESTIONS: &[&str] = &[
    "tree print TREE --csv",
    "tree sample TREE --at 100,90 --at 3,250",
    "tree box TREE 10:90,20:70 -o -",
    "tree stats TREE",
    "tree validate TREE",
    "tree diff TREE small.tree.zarr",
];

#[test]
#[cfg_attr(not(feature = "cloud"), ignore = "needs the feature cloud")]
fn a_tree_is_complete_before_it_can_be_opened() {
    let folder = trees();
    // Now and then a server has no time.
    let bucket = Bucket::start(|_, number| (number % 4 == 1).then_some((503, "")));
    let url = "s3://bucket/some/small.tree.zarr";
    done(folder, &bucket.endpoint, &format!("run mandelbrot -n 256 -o {url}"));
    let sent = bucket.asked.lock().unwrap().clone();
    let (method, path) = sent.last().unwrap();
    assert_eq!((&**method, &**path), ("PUT", "/bucket/some/small.tree.zarr/zarr.json"), "{sent:?}");
    let names: Vec<_> = bucket.keys().iter().map(|key| key.replace("some/small.tree.zarr/", "")).collect();
    let mut right = local(&folder.join("small.tree.zarr"), "");
    right.sort();
    assert_eq!(names, right);
    for (name, bytes) in bucket.objects.lock().unwrap().iter() {
        let file = folder.join(name.strip_prefix("some/").unwrap());
        assert!(name.ends_with("zarr.json") || std::fs::read(&file).unwrap() == *bytes, "{name}");
    }
    for question in QUESTIONS {
        let right = done(folder, "", &question.replace("TREE", "small.tree.zarr"));
        assert_eq!(done(folder, &bucket.endpoint, &question.replace("TREE", url)), right, "{question}");
    }
    assert!(files(&temporary(folder)).is_empty());

    // It is refused before any work, and replaced with --force: then the old one cannot be opened from the beginning on.
    let again = format!("run mandelbrot -n 64 -g 4 -o {url}");
    refused(
        folder,
        &bucket.endpoint,
        &again,
        2,
        "s3://bucket/some/small.tree.zarr exists already; --force overwrites it",
    );
    bucket.objects.lock().unwrap().insert("some/small.tree.zarr/of-the-old".into(), vec![1]);
    bucket.objects.lock().unwrap().insert("some/small.tree.zarr.zip".into(), vec![1]);
    bucket.asked.lock().unwrap().clear();
    done(folder, &bucket.endpoint, &format!("{again} --force"));
    let sent = bucket.asked.lock().unwrap().clone();
    let changes: Vec<_> = sent.iter().filter(|(method, _)| method != "GET").collect();
    assert_eq!(*changes[0], ("DELETE".into(), "/bucket/some/small.tree.zarr/zarr.json".into()), "{sent:?}");
    assert_eq!(sent.last().unwrap().1, "/bucket/some/small.tree.zarr/zarr.json");
    let keys = bucket.keys();
    assert!(!keys.iter().any(|key| key.contains("of-the-old")) && keys.contains(&"some/small.tree.zarr.zip".into()));
    let info = text(&done(folder, &bucket.endpoint, &format!("tree info {url} --json")));
    assert!(info.contains("[64,64]") || info.contains("64"), "{info}");
}

/// The files below a folder.
fn local(folder: &Path, prefix: &str) -> Vec<String> {
    let mut found = Vec::new();
    for name in files(folder) {
        match folder.join(&name).is_dir() {
            true => found.extend(local(&folder.join(&name), &format!("{prefix}{name}/"))),
            false => found.push(format!("{prefix}{name}")),
        }
    }
    found
}

#[test]
#[cfg_attr(not(feature = "cloud"), ignore = "needs the feature cloud")]
fn what_a_bucket_refuses_is_said_and_nothing_is_lost() {
    let folder = trees();
    let denied = "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>";
    let no_puts = Bucket::start(move |(method, _), _| (method == "PUT").then_some((403, denied)));
    let url = "s3://bucket/x.tree.zarr.zip";
    let error =
        refused(folder, &no_puts.endpoint, &format!("tree convert small.tree.zarr {url}"), 2, "403 AccessDenied");
    assert!(error.contains("AWS_ACCESS_KEY_ID") && error.contains("the whole tree is in"), "{error}");
    // What was made is there, as a tree.
    let kept = files(&temporary(folder));
    assert_eq!(kept.len(), 1, "{kept:?}");
    let kept = temporary(folder).join(&kept[0]);
    done(folder, "", &format!("tree diff {}/x.tree.zarr.zip small.tree.zarr", kept.display()));
    std::fs::remove_dir_all(kept).unwrap();

    let elsewhere = "<Error><Code>PermanentRedirect</Code></Error>";
    let moved = Bucket::start(move |_, _| Some((301, elsewhere)));
    refused(folder, &moved.endpoint, &format!("tree info {url}"), 2, "301 PermanentRedirect");
    let empty = Bucket::start(|_, _| None);
    refused(folder, &empty.endpoint, &format!("tree info {url}"), 2, "no such object");
    refused(folder, &empty.endpoint, "tree info s3://bucket", 2, "s3://bucket/folder/x.tree.zarr");
    refused(folder, "nowhere", &format!("tree info {url}"), 2, "AWS_ENDPOINT_URL is 'nowhere'");
    refused(folder, "http://127.0.0.1:1", &format!("tree info {url}"), 1, "the connection failed");
    refused(folder, &empty.endpoint, "run mandelbrot -n 64 -o s3://bucket/x.png", 2, "only trees are written to s3://");
    refused(folder, &empty.endpoint, "tree convert small.tree.zarr s3://bucket/x.zarr", 2, "only trees");
    let half = cloud(folder, &empty.endpoint, &format!("tree info {url}")).env_remove("AWS_ACCESS_KEY_ID").output();
    assert!(text(&half.unwrap().stderr).contains("set both"));
    // Another makes a tree of that name meanwhile.
    let objects = empty.objects.clone();
    let late = Bucket::start(move |(method, path), _| {
        let _ = &objects;
        (method == "PUT" && path.ends_with("zarr.json") && path.matches('/').count() == 3).then_some((412, ""))
    });
    let url = "s3://bucket/x.tree.zarr";
    refused(folder, &late.endpoint, &format!("tree convert small.tree.zarr {url}"), 2, "exists already");
    for kept in files(&temporary(folder)) {
        std::fs::remove_dir_all(temporary(folder).join(kept)).unwrap();
    }
}

#[cfg(unix)]
#[test]
#[cfg_attr(not(feature = "cloud"), ignore = "needs the feature cloud")]
fn an_upload_that_is_interrupted_loses_nothing() {
    let folder = trees();
    let bucket = Bucket::start(|(method, _), _| {
        if method == "PUT" {
            std::thread::sleep(Duration::from_secs(20));
        }
        None
    });
    let mut child = cloud(folder, &bucket.endpoint, "run mandelbrot -n 256 -o s3://bucket/x.tree.zarr");
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    while !bucket.asked.lock().unwrap().iter().any(|(method, _)| method == "PUT") {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{error}");
    assert!(error.contains("s3://bucket/x.tree.zarr` uploads it"), "{error}");
    let kept = temporary(folder).join(&files(&temporary(folder))[0]);
    done(folder, "", &format!("tree diff {}/x.tree.zarr small.tree.zarr", kept.display()));
    std::fs::remove_dir_all(kept).unwrap();
}

#[test]
#[cfg_attr(feature = "cloud", ignore = "is without the feature cloud")]
fn without_the_feature_it_is_named() {
    let folder = trees();
    for arguments in [
        "tree info s3://bucket/x.tree.zarr",
        "run mandelbrot -n 64 -o s3://bucket/x.tree.zarr",
        "tree convert small.tree.zarr s3://bucket/x.tree.zarr",
    ] {
        refused(folder, "", arguments, 2, "--features cloud");
    }
}

/// moto's server, which answers lines on stdin. It ends with this process.
struct Moto {
    /// And a key, for which signatures are compared.
    endpoint: String,
    _child: Child,
    talk: Mutex<(ChildStdin, BufReader<ChildStdout>)>,
}

const MOTO: &str = r#"
import json, os, sys
# From the sixth request on signatures are compared.
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "5"
import moto
# 5.2.1 computes other signatures of names with letters beyond ASCII; 5.2.5 was tried.
if [int(part) for part in moto.__version__.split(".")[:3]] < [5, 2, 5]:
    sys.exit()
from moto.server import ThreadedMotoServer
import boto3
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
url = f"http://{host}:{port}"
def client(service, id, secret):
    return boto3.client(service, endpoint_url=url, region_name="us-east-1", aws_access_key_id=id, aws_secret_access_key=secret)
iam = client("iam", "a", "b")
iam.create_user(UserName="u")
all = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
policy = iam.create_policy(PolicyName="p", PolicyDocument=json.dumps(all))["Policy"]["Arn"]
iam.attach_user_policy(UserName="u", PolicyArn=policy)
key = iam.create_access_key(UserName="u")["AccessKey"]
key = key["AccessKeyId"], key["SecretAccessKey"]
client("s3", "a", "b").create_bucket(Bucket="bucket")
s3 = client("s3", *key)
print(url, *key, flush=True)
for line in sys.stdin:
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket="bucket", Prefix=line.strip())
    print(" ".join(found["Key"] for page in pages for found in page.get("Contents", [])), flush=True)
"#;

impl Moto {
    fn start() -> Option<Self> {
        let python = std::env::var("ORTHANT_PYTHON").unwrap_or_else(|_| "python3".into());
        let mut child = Command::new(python)
            .args(["-c", MOTO])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let (stdin, mut stdout) = (child.stdin.take()?, BufReader::new(child.stdout.take()?));
        let mut line = String::new();
        stdout.read_line(&mut line).ok()?;
        let endpoint = line.trim().to_owned();
        endpoint.starts_with("http://").then(|| Self { endpoint, _child: child, talk: Mutex::new((stdin, stdout)) })
    }

    fn keys(&self, prefix: &str) -> Vec<String> {
        let mut talk = self.talk.lock().unwrap();
        writeln!(talk.0, "{prefix}").unwrap();
        let mut line = String::new();
        talk.1.read_line(&mut line).unwrap();
        line.split_whitespace().map(str::to_owned).collect()
    }
}

#[test]
#[cfg_attr(not(feature = "cloud"), ignore = "needs the feature cloud")]
fn moto_takes_trees_and_gives_them() {
    let Some(moto) = Moto::start() else {
        assert!(
            std::env::var_os("ORTHANT_REQUIRE_MOTO").is_none(),
            "ORTHANT_REQUIRE_MOTO is set, and there is no moto"
        );
        println!("SKIPPED: python3 has no moto from 5.2.5 on: pip install 'moto[s3]>=5.2.5' flask flask-cors");
        return;
    };
    let folder = trees();
    let right: Vec<_> =
        QUESTIONS.iter().map(|question| done(folder, "", &question.replace("TREE", "small.tree.zarr"))).collect();
    for name in ["small.tree.zarr", "small.tree.zarr.zip"] {
        let url = format!("s3://bucket/a+(ü)/{name}");
        let run = format!("run mandelbrot -n 256 -o {url}");
        done(folder, &moto.endpoint, &run);
        for (question, right) in QUESTIONS.iter().zip(&right) {
            assert_eq!(done(folder, &moto.endpoint, &question.replace("TREE", &url)), *right, "{question} {url}");
        }
        refused(folder, &moto.endpoint, &run, 2, "exists already; --force overwrites it");
        done(folder, &moto.endpoint, &format!("{run} --force"));
        assert_eq!(done(folder, &moto.endpoint, &format!("tree validate {url}")), right[4]);
        refused(folder, &moto.endpoint, "tree info s3://bucket/none.tree.zarr", 2, "s3://bucket/none.tree.zarr");
        let wrong = moto.endpoint.rsplit_once(' ').unwrap().0.to_owned() + " a-secret";
        refused(folder, &wrong, &format!("tree info {url}"), 2, "403 SignatureDoesNotMatch");
        refused(folder, &moto.endpoint, "tree info s3://nobucket/x.tree.zarr.zip", 2, "s3://nobucket/x.tree.zarr.zip");
        refused(folder, &moto.endpoint, "run mandelbrot -n 64 -o s3://nobucket/x.tree.zarr", 2, "NoSuchBucket");
    }
    // In parts, and copied from bucket to bucket.
    for (from, to) in [
        ("large.tree.zarr.zip", "s3://bucket/large.tree.zarr.zip"),
        ("s3://bucket/large.tree.zarr.zip", "s3://bucket/copy.tree.zarr"),
        ("s3://bucket/copy.tree.zarr", "s3://bucket/large.tree.zarr.zip --force"),
    ] {
        done(folder, &moto.endpoint, &format!("tree convert {from} {to}"));
        let to = to.replace(" --force", "");
        done(folder, &moto.endpoint, &format!("tree diff large.tree.zarr.zip {to}"));
        done(folder, &moto.endpoint, &format!("tree validate {to}"));
    }
    // Of a large tree that a small one replaces nothing is left.
    let before = moto.keys("copy.tree.zarr/").len();
    done(folder, &moto.endpoint, "tree convert small.tree.zarr s3://bucket/copy.tree.zarr --force");
    assert!(moto.keys("copy.tree.zarr/").len() <= before);
    assert_eq!(moto.keys("copy.tree.zarr/").len(), local(&folder.join("small.tree.zarr"), "").len());
    done(folder, &moto.endpoint, "tree diff s3://bucket/copy.tree.zarr small.tree.zarr");
    // Pieces, and a slice.
    done(folder, "", "shard plan mandelbrot -n 256 --pieces 3 -o m.pieces --force");
    done(folder, "", "shard run m.pieces");
    done(folder, &moto.endpoint, "shard merge m.pieces -o s3://bucket/merged.tree.zarr");
    done(folder, &moto.endpoint, "tree slice s3://bucket/merged.tree.zarr --axis y=9 -o s3://bucket/line.tree.zarr");
    done(folder, &moto.endpoint, "tree validate s3://bucket/line.tree.zarr");
    assert!(files(&temporary(folder)).is_empty());
}
