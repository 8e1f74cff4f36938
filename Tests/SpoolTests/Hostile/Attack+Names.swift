import Foundation
import Glibc
import Testing

extension Attack {
  /// Names that do something to who reads them.
  static let names: [Attack] = [
    Attack(
      "a name with a line feed", "gtfs/a\nb.csv",
      .refused(as: "a_b.csv", code: "name-control-characters", says: "\\u{a}")
    ) { try $0.spool.drop("incoming/gtfs/a\nb.csv") },
    Attack(
      "a name that clears a terminal", "gtfs/a\u{1B}[2Jb",
      .refused(as: "a__2Jb", code: "name-control-characters", says: "\\u{1b}")
    ) { try $0.spool.drop("incoming/gtfs/a\u{1B}[2Jb") },
    Attack(
      "a name that turns the direction of text", "gtfs/a\u{202E}vsc.exe",
      .refused(as: "a_vsc.exe", code: "name-control-characters", says: "\\u{202e}")
    ) { try $0.spool.drop("incoming/gtfs/a\u{202E}vsc.exe") },
    Attack(
      "a name that isn't UTF-8", "gtfs/a\u{FFFD}\u{FFFD}", .refused(as: "a__", code: "name-not-utf8", says: "UTF-8")
    ) {
      try $0.create(bytes: Array("gtfs/a".utf8) + [0xFF, 0xFE])
    },
    Attack(
      "a name with a slash in overlong UTF-8", "gtfs/..\u{FFFD}\u{FFFD}x", .leftAlone
    ) { try $0.create(bytes: Array("gtfs/..".utf8) + [0xC0, 0xAF] + Array("x".utf8)) },
    Attack(
      "a name of 255 bytes", "gtfs/" + String(repeating: "n", count: 255),
      .refused(as: String(repeating: "n", count: 200), code: "name-too-long", says: "255 bytes")
    ) { try $0.spool.drop("incoming/gtfs/" + String(repeating: "n", count: 255)) },
    Attack("a name that looks like an option", "gtfs/-rf", .taken(as: "1--rf", text: "data")) {
      try $0.spool.drop("incoming/gtfs/-rf", "data")
    },
    Attack(
      "a name that a shell would run", "gtfs/$(touch x);`id`|a&b.csv",
      .taken(as: "1-__touch_x___id__a_b.csv", text: "data")
    ) { try $0.spool.drop("incoming/gtfs/$(touch x);`id`|a&b.csv", "data") },
    Attack("a name of dots", "gtfs/...", .leftAlone) { try $0.spool.drop("incoming/gtfs/...") },
    Attack("a ticket whose whole name is .job", ".job", .leftAlone) {
      try $0.spool.drop("incoming/.job", "store: shop\n")
    },
    Attack("rsync's name for what it hasn't finished", "gtfs/.x.csv.Wk3z9Q", .leftAlone) {
      try $0.spool.drop("incoming/gtfs/.x.csv.Wk3z9Q")
    },
    Attack("a name with a partial suffix in capitals", "gtfs/x.csv.FilePart", .leftAlone) {
      try $0.spool.drop("incoming/gtfs/x.csv.FilePart")
    },
    Attack("a name that another job's file could have", "gtfs/7-x.csv", .taken(as: "1-7-x.csv", text: "data")) {
      try $0.spool.drop("incoming/gtfs/7-x.csv", "data")
    },
    Attack("a name that a ticket in active/ has, in a hot folder", "gtfs/1.job", .taken(as: "1-1.job", text: "data")) {
      try $0.spool.drop("incoming/gtfs/1.job", "data")
    },
    Attack("a name that a reason has", "gtfs/x.csv.reason", .taken(as: "1-x.csv.reason", text: "data")) {
      try $0.spool.drop("incoming/gtfs/x.csv.reason", "data")
    },
    Attack(
      "a folder that looks like a recipe's and is another by its bytes", "cafe\u{301}",
      .refused(as: "cafe_", code: "unknown-folder", says: "there is no recipe")
    ) { spool in
      try #require(mkdir(spool.entry("cafe\u{301}"), 0o770) == 0)
      try spool.spool.drop("incoming/cafe\u{301}/x.csv")
    },
  ]

  /// What isn't a file, or isn't the submitter's.
  static let kinds: [Attack] = [
    Attack("a link to a secret", "gtfs/x.csv", .refused(as: "x.csv", code: "symbolic-link", says: "never followed")) {
      try #require(symlink($0.secretPath, $0.entry("gtfs/x.csv")) == 0)
    },
    Attack("a link to a secret, as a ticket", "x.job", .refused(as: "x.job", code: "symbolic-link", says: "link")) {
      try #require(symlink($0.secretPath, $0.entry("x.job")) == 0)
    },
    Attack("a link that leads nowhere", "gtfs/x", .refused(as: "x", code: "symbolic-link", says: "link")) {
      try #require(symlink("/nowhere/at/all", $0.entry("gtfs/x")) == 0)
    },
    Attack("a link to itself", "gtfs/loop", .refused(as: "loop", code: "symbolic-link", says: "link")) {
      try #require(symlink("loop", $0.entry("gtfs/loop")) == 0)
    },
    Attack("a link to a directory", "gtfs/etc", .refused(as: "etc", code: "symbolic-link", says: "link")) {
      try #require(symlink("/etc", $0.entry("gtfs/etc")) == 0)
    },
    Attack("a link in the place of a hot folder", "people", .refused(as: "people", code: "symbolic-link", says: "link"))
    {
      if $0.spool.exists("incoming/people") { try #require(rmdir($0.entry("people")) == 0) }
      try #require(symlink("/etc", $0.entry("people")) == 0)
    },
    Attack(
      "a file in the place of a hot folder", "people", .refused(as: "people", code: "unacceptable", says: "is a file")
    ) {
      if $0.spool.exists("incoming/people") { try #require(rmdir($0.entry("people")) == 0) }
      try $0.spool.drop("incoming/people")
    },
    Attack("a FIFO", "gtfs/x.csv", .refused(as: "x.csv", code: "fifo", says: "FIFO")) {
      try #require(mkfifo($0.entry("gtfs/x.csv"), 0o666) == 0)
    },
    Attack("a FIFO as a ticket", "x.job", .refused(as: "x.job", code: "fifo", says: "FIFO")) {
      try #require(mkfifo($0.entry("x.job"), 0o666) == 0)
    },
    Attack("a socket", "gtfs/s", .refused(as: "s", code: "socket", says: "socket")) { spool in
      let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
      defer { close(number) }
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(spool.entry("gtfs/s").utf8)) }
      let bound = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      try #require(bound == 0)
    },
    Attack("a terminal", "gtfs/tty", .refused(as: "tty", code: "device", says: "device"), needsRoot: true) {
      try #require(mknod($0.entry("gtfs/tty"), S_IFCHR | 0o666, dev_t(0x0500)) == 0)
    },
    Attack("a disk", "gtfs/disk", .refused(as: "disk", code: "device", says: "device"), needsRoot: true) {
      try #require(mknod($0.entry("gtfs/disk"), S_IFBLK | 0o666, dev_t(0xFE00)) == 0)
    },
    Attack("a folder in a hot folder", "gtfs/sub", .refused(as: "sub", code: "directory", says: "files only")) {
      try #require(mkdir($0.entry("gtfs/sub"), 0o770) == 0)
      try $0.spool.drop("incoming/gtfs/sub/x.csv")
    },
    Attack(
      "a folder that no recipe is named for", "gfts", .refused(as: "gfts", code: "unknown-folder", says: "gtfs, people")
    ) {
      try #require(mkdir($0.entry("gfts"), 0o770) == 0)
      try $0.spool.drop("incoming/gfts/x.csv")
    },
    Attack("a folder called as a ticket is", "x.job", .refused(as: "x.job", code: "unknown-folder", says: "no recipe"))
    {
      try #require(mkdir($0.entry("x.job"), 0o770) == 0)
    },
    Attack(
      "somebody's private folder, full of links", "theirs",
      .refused(as: "theirs", code: "unknown-folder", says: "no recipe"),
      needsRoot: true
    ) {
      try $0.run("mkdir \($0.entry("theirs")); ln -s /etc \($0.entry("theirs"))/a; chmod 700 \($0.entry("theirs"))")
    },
    Attack("a secret's other name", "gtfs/x.csv", .refused(as: "x.csv", code: "hard-link", says: "2 names")) {
      try #require(link($0.secretPath, $0.entry("gtfs/x.csv")) == 0)
    },
    Attack(
      "a stranger's file", "gtfs/x.csv", .refused(as: "x.csv", code: "foreign-owner", says: "chgrp"), needsRoot: true
    ) {
      try $0.spool.drop("incoming/gtfs/x.csv")
      try #require(chown($0.entry("gtfs/x.csv"), HostileSpool.stranger, HostileSpool.stranger) == 0)
    },
    Attack("a stranger's ticket", "x.job", .refused(as: "x.job", code: "foreign-owner", says: "23456"), needsRoot: true)
    {
      try $0.spool.drop("incoming/x.job", "store: shop\n")
      try #require(chown($0.entry("x.job"), HostileSpool.stranger, HostileSpool.stranger) == 0)
    },
    Attack("a member's file", "gtfs/x.csv", .taken(as: "1-x.csv", text: "data"), needsRoot: true) {
      try $0.run("printf data >\($0.spool.url("tmp/x.csv")); mv \($0.spool.url("tmp/x.csv")) \($0.entry("gtfs/x.csv"))")
    },
    Attack(
      "a member's link to what only root may read", "gtfs/x.csv",
      .refused(as: "x.csv", code: "symbolic-link", says: "link"), needsRoot: true
    ) { try $0.run("ln -s \($0.secretPath) \($0.entry("gtfs/x.csv"))") },
    Attack("a program that would run as its owner", "gtfs/x.csv", .taken(as: "1-x.csv", text: "data")) {
      try $0.spool.drop("incoming/gtfs/x.csv", "data")
      try #require(chmod($0.entry("gtfs/x.csv"), 0o6770) == 0)
    },
    Attack("a file that says it has 8 TiB", "gtfs/huge.csv", .taken(as: "1-huge.csv", text: nil)) {
      try $0.sparse($0.entry("gtfs/huge.csv"), bytes: 8 << 40)
    },
    Attack("a file from the future", "gtfs/x.csv", .taken(as: "1-x.csv", text: "data")) {
      try $0.spool.drop("incoming/gtfs/x.csv", "data")
      var times = [timespec(tv_sec: 1 << 33, tv_nsec: 0), timespec(tv_sec: 1 << 33, tv_nsec: 0)]
      try #require(utimensat(AT_FDCWD, $0.entry("gtfs/x.csv"), &times, 0) == 0)
    },
    Attack("a file from before all time", "gtfs/x.csv", .taken(as: "1-x.csv", text: "data")) {
      try $0.spool.drop("incoming/gtfs/x.csv", "data")
      var times = [timespec(tv_sec: -1 << 31, tv_nsec: 0), timespec(tv_sec: -1 << 31, tv_nsec: 0)]
      try #require(utimensat(AT_FDCWD, $0.entry("gtfs/x.csv"), &times, 0) == 0)
    },
  ]
}
