import Foundation
import Glibc
import Testing

extension Attack {
  private static let bomb =
    "a0: &a0 [x, x]\n" + (1..<60).map { "a\($0): &a\($0) [*a\($0 - 1), *a\($0 - 1)]\n" }.joined()

  /// Texts that cost more than they are long, or mean more than they say.
  static let tickets: [Attack] = [
    Attack("a ticket that unfolds to a billion nodes", ticket: bomb, says: "aliases"),
    Attack("a ticket with an alias", ticket: "store: &a shop\nentity: *a\n", says: "anchors and aliases"),
    Attack(
      "a ticket that asks for a type", ticket: "store: !!python/object/apply:os.system [id]\n", says: "tags"),
    Attack("a ticket nested thirty thousand deep", ticket: "options: " + String(repeating: "[", count: 30_000)),
    Attack("a ticket nested thirty thousand deep in mappings", ticket: String(repeating: "{a: ", count: 15_000)),
    Attack("a ticket with a key twice", ticket: "store: a\nstore: b\n", says: "twice"),
    Attack("a ticket with a key twice, far inside", ticket: "options: {a: {b: 1, b: 2}}\n", says: "twice"),
    Attack("a ticket of two documents", ticket: "store: a\n---\nstore: b\n", says: "document"),
    Attack("an empty ticket", ticket: "", says: "empty"),
    Attack("a ticket of NULs", ticket: String(repeating: "\0", count: 1000)),
    Attack(
      "a ticket with a key of 60,000 letters", ticket: String(repeating: "k", count: 60_000) + ": 1\n",
      says: "not YAML"),
    Attack("a ticket with 7,000 keys", ticket: (0..<7_000).map { "k\($0): 1" }.joined(separator: "\n"), says: "k0"),
    Attack(
      "a ticket with a number beyond numbers", ticket: "priority: 9" + String(repeating: "9", count: 40),
      says: "priority"),
    Attack("a ticket in UTF-16", "x.job", .refused(as: "x.job", code: "ticket", says: "UTF-8")) { spool in
      try "store: shop\n".data(using: .utf16)?.write(to: URL(fileURLWithPath: spool.spool.url("tmp/x.job")))
      try #require(rename(spool.spool.url("tmp/x.job"), spool.entry("x.job")) == 0)
    },
    Attack(
      "a ticket of 1 GiB, which isn't read", "x.job", .refused(as: "x.job", code: "ticket", says: "1073741824 bytes")
    ) {
      try $0.sparse($0.entry("x.job"), bytes: 1 << 30)
    },
    Attack(
      "a ticket that names itself", ticket: "source: x.job\n", code: "source-unacceptable", says: "a ticket itself"),
    Attack(
      "a ticket that names another ticket", ticket: "source: y.job\n", code: "source-unacceptable",
      says: "a ticket itself"),
    Attack("a ticket that climbs out", ticket: "source: ../../secret\n", says: "without “/”"),
    Attack(
      "a ticket that climbs out of an allowed folder", ticket: "source: $ROOT/exports/../secret\n", says: "“..”",
      allowed: ["./exports"]),
    Attack("a ticket that names what lies in a hot folder", ticket: "source: gtfs/x.csv\n", says: "without “/”"),
    Attack("a ticket that names a folder", ticket: "source: gtfs\n", code: "source-directory", says: "directory"),
    Attack("a ticket that names an unfinished file", ticket: "source: x.csv.part\n", says: "not yet finished"),
    Attack("a ticket that names a hidden file", ticket: "source: .x.csv\n", says: "dot"),
    Attack(
      "a ticket that names nothing that is there", ticket: "source: y.csv\n", code: "source-missing", says: "not there"),
    Attack(
      "a ticket whose source is a link to a secret", ticket: "source: y.csv\n", code: "source-symbolic-link",
      says: "link"
    ) {
      try #require(symlink($0.secretPath, $0.entry("y.csv")) == 0)
    },
    Attack(
      "a ticket whose source is a secret's other name", ticket: "source: y\n", code: "source-hard-link", says: "2 names"
    ) {
      try #require(link($0.secretPath, $0.entry("y")) == 0)
    },
    Attack("a ticket whose source is a FIFO", ticket: "source: y\n", code: "source-fifo", says: "FIFO") {
      try #require(mkfifo($0.entry("y"), 0o666) == 0)
    },
    Attack(
      "a ticket whose source is a stranger's", ticket: "source: y\n", code: "source-foreign-owner", says: "23456",
      needsRoot: true
    ) {
      try $0.spool.drop("incoming/y")
      try #require(chown($0.entry("y"), HostileSpool.stranger, HostileSpool.stranger) == 0)
    },
    Attack(
      "a ticket that names the password file", ticket: "source: /etc/passwd\n", code: "source-outside", says: "none"),
    Attack(
      "a ticket that names a folder whose name begins as an allowed one's does",
      ticket: "source: $ROOT/exports-secret/x\n",
      code: "source-outside", says: "exports", allowed: ["./exports"]
    ) { spool in
      try #require(mkdir(spool.spool.path + "/exports-secret", 0o755) == 0)
      try Data(HostileSpool.secret.utf8).write(to: URL(fileURLWithPath: spool.spool.path + "/exports-secret/x"))
    },
    Attack(
      "a ticket that leaves an allowed folder by a link", ticket: "source: $ROOT/exports/out/secret\n",
      code: "source-symbolic-link", says: "link", allowed: ["./exports"]
    ) { spool in
      try #require(mkdir(spool.spool.path + "/exports", 0o755) == 0)
      try #require(symlink(spool.spool.path, spool.spool.path + "/exports/out") == 0)
    },
    Attack(
      "a ticket that names a link at the end of an allowed path", ticket: "source: $ROOT/exports/x\n",
      code: "source-symbolic-link", says: "link", allowed: ["./exports"]
    ) { spool in
      try #require(mkdir(spool.spool.path + "/exports", 0o755) == 0)
      try #require(symlink(spool.secretPath, spool.spool.path + "/exports/x") == 0)
    },
    Attack(
      "a ticket that names the process's environment", ticket: "source: /proc/self/environ\n",
      code: "source-symbolic-link", says: "link", allowed: ["/"]),
    Attack(
      "a ticket that names the kernel's version", ticket: "source: /proc/version\n",
      code: "source-kernel-file", says: "kernel", allowed: ["/"]),
    Attack(
      "a ticket that names the machine's memory", ticket: "source: /proc/meminfo\n",
      code: "source-kernel-file", says: "kernel", allowed: ["/proc"]),
    Attack(
      "a ticket that names a switch of the kernel", ticket: "source: /sys/kernel/uevent_seqnum\n",
      code: "source-kernel-file", says: "kernel", allowed: ["/"]),
    Attack(
      "a ticket that names what never ends", ticket: "source: /dev/zero\n", code: "source-device", says: "device",
      allowed: ["/"]),
    Attack(
      "a ticket that names the terminal", ticket: "source: /dev/tty\n", code: "source-device", says: "device",
      allowed: ["/dev"]),
    Attack(
      "a ticket that names another job's file", ticket: "source: $ROOT/spool/active/7-x.csv\n",
      code: "source-daemons-own",
      says: "daemon's own", allowed: ["."]
    ) { try $0.spool.drop("active/7-x.csv") },
    Attack(
      "a ticket that names the queue", ticket: "source: $ROOT/state/queue.sqlite-wal\n", code: "source-daemons-own",
      says: "daemon's own", allowed: ["."]
    ) { spool in
      try #require(mkdir(spool.spool.path + "/state", 0o755) == 0)
      try Data("x".utf8).write(to: URL(fileURLWithPath: spool.spool.path + "/state/queue.sqlite-wal"))
    },
    Attack(
      "a ticket that names a store's log", ticket: "source: $ROOT/main.sqlite-wal\n", code: "source-daemons-own",
      says: "daemon's own", allowed: ["/"]
    ) { try Data("x".utf8).write(to: URL(fileURLWithPath: $0.spool.path + "/main.sqlite-wal")) },
  ]
}
