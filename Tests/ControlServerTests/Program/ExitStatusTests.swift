import ControlAPI
import Foundation
import Testing

@testable import ladectl

@Suite("Exit statuses")
struct ExitStatusTests {
  @Test("each is another number, and is in the help")
  func distinct() async throws {
    let numbers = ladectl.ExitStatus.allCases.map(\.rawValue)
    #expect(Set(numbers).count == numbers.count)
    let help = try await LadectlProcess.run(["--help"]).output
    for status in ladectl.ExitStatus.allCases {
      #expect(help.contains("  " + "\(status.rawValue)".padded(to: 4)), "\(status)")
    }
  }

  @Test("a socket without permission is 6, and the group that may is named")
  func permission() async throws {
    let error = ControlClientError.noPermission(path: "/run/lade/control.sock", group: "lade")
    #expect(error.exitStatus == .notAllowed)
    #expect(error.problem.hint?.contains("usermod -aG lade") == true)
    // The superuser may connect wherever there is a socket.
    guard getuid() != 0 else { return }
    let directory = try TemporaryDirectory()
    let socket = try PlainSocket(boundTo: directory.file("s"), listening: true)
    chmod(directory.file("s"), 0)
    let run = try await LadectlProcess.run(["list"], socket: directory.file("s"))
    #expect(run.status == 6)
    withExtendedLifetime(socket) {}
  }

  @Test("a user who is neither root nor of the group gets 6 from a real socket")
  func otherUser() async throws {
    guard getuid() == 0, FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv") else {
      return print("not root, or no setpriv: nobody else can be tried")
    }
    let directory = try TemporaryDirectory()
    chmod(directory.path, 0o755)
    let socket = try PlainSocket(boundTo: directory.file("s"), listening: true)
    chmod(directory.file("s"), 0o660)
    // The programs may stand where others can't go; a copy can be run by anybody.
    let copy = directory.file("ladectl")
    // By another process: a program that another test starts at the same time would have the copy open for writing, too.
    let copied = try await LadectlProcess.run(
      program: "/bin/cp", [LadectlProcess.folder + "/ladectl", copy], socket: directory.file("s"))
    try #require(copied.status == 0, "\(copied.error)")
    chmod(copy, 0o755)
    let run = try await LadectlProcess.run(
      program: "/usr/bin/setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", copy, "list"],
      socket: directory.file("s"))
    #expect(run.status == 6, "\(run.error)")
    #expect(run.error.contains("You have no permission to connect to laded"))
    withExtendedLifetime(socket) {}
  }

  @Test("what the daemon keeps for others is 6, and what it can't do is 1")
  func refusals() {
    func refused(_ status: Int) -> ladectl.ExitStatus {
      ControlClientError.refused(Problem(status: status, code: "x", title: "x", detail: "x")).exitStatus
    }
    #expect(refused(403) == .notAllowed)
    #expect(refused(404) == .failed)
    #expect(refused(409) == .failed)
    #expect(refused(503) == .noDaemon)
  }
}
