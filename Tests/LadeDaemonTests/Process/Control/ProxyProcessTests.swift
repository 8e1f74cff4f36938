import ControlAPI
import Foundation
import Glibc
import TestSupport
import Testing

/// Pages on the Unix socket of a real daemon, behind a process of another user that stands for the proxy.
@Suite(
  "A proxy in front of the pages", .startsDaemons,
  .enabled("it takes root, setpriv and curl to be somebody else") {
    geteuid() == 0 && Products.system("setpriv") != nil && Products.system("curl") != nil
  })
struct ProxyProcessTests {
  /// As whom the proxy runs; the system needn't know.
  private static let proxy: UInt32 = 54321

  private struct Answer {
    let status: Int
    let text: String
  }

  /// A request by a process of some user.
  private func ask(
    _ folder: DaemonFolder, as user: UInt32 = Self.proxy, _ method: String, _ uri: String, _ headers: [String]
  ) async throws -> Answer {
    guard let setpriv = Products.system("setpriv") else { throw POSIXError(.ENOENT) }
    let arguments =
      [
        "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "curl", "--silent", "--unix-socket", folder.file("w"),
        "--request", method, "--write-out", "\n%{http_code}",
      ] + headers.flatMap { ["--header", $0] } + ["http://lade.example.org" + uri]
    let run = try await ProgramOutput.of(
      setpriv, arguments, environment: Products.environment([:]), files: folder.file("ask-\(UUID().uuidString)"))
    guard run.status == 0, let end = run.text.lastIndex(of: "\n"), let status = Int(run.text[end...].dropFirst()) else {
      throw ProgramFailure(program: "curl", arguments: arguments, what: "status \(run.status)", error: run.error)
    }
    return Answer(status: status, text: String(run.text[..<end]))
  }

  private func started() async throws -> (DaemonFolder, DaemonProcess) {
    let folder = try DaemonFolder(
      model: Members.model, recipes: "  members: { store: main, entity: Member }\n",
      more: """
        web: { socket: w, url: "https://lade.example.org", proxy: { user: \(Self.proxy) } }
        operators: [bin]
        """)
    chmod(folder.path, 0o755)
    return (folder, try await folder.start())
  }

  @Test("names users who then may do what they may do on the control socket")
  func users() async throws {
    let (folder, daemon) = try await started()
    // Everybody may connect to the control socket.
    #expect(chmod(folder.file("s"), 0o666) == 0)
    _ = try await folder.got(Lane.self, "POST", .pauseLane("import"))
    let file = try folder.write("number,name\n1,Ada\n", to: "a.csv")
    #expect(chown(file, getpwnam("daemon").pointee.pw_uid, 0) == 0)
    let roots: Job = try await folder.got("POST", .jobs, body: JobSubmission(source: file, recipe: "members"))

    let page = try await ask(folder, "GET", "/jobs", ["X-Remote-User: daemon"])
    #expect(page.status == 200 && page.text.contains("<bdi>daemon</bdi>"), "\(page.text)")
    let own = ["Sec-Fetch-Site: same-origin"]
    let cancel = "/jobs/\(roots.id)/cancel"
    let daemons = try await ask(folder, "POST", cancel, ["X-Remote-User: daemon"] + own)
    #expect(daemons.status == 403 && daemons.text.contains("submitted by user 0"), "\(daemons.text)")
    #expect(try await folder.job(roots.id).state == .available)
    #expect(try await ask(folder, "POST", cancel, ["X-Remote-User: bin"]).status == 403, "another site's form")
    #expect(try await ask(folder, "POST", cancel, ["X-Remote-User: bin"] + own).status == 303, "an operator")
    #expect(try await folder.job(roots.id).state == .cancelled)
    // No link is needed, and there is none.
    let link = try await folder.ladectl("web")
    #expect(link.status != 0 && link.error.contains("https://lade.example.org"), "\(link.error)")
    try await daemon.stop()
    #expect(!FileManager.default.fileExists(atPath: folder.file("w")))
  }

  @Test("names nobody who may not use the control socket, nor root, nor somebody unknown")
  func refused() async throws {
    let (folder, daemon) = try await started()
    for (name, code) in [("daemon", "not_in_group"), ("root", "privileged_user"), ("nobody-has-this", "unknown_user")] {
      let answer = try await ask(folder, "GET", "/jobs", ["X-Remote-User: \(name)"])
      #expect(answer.status == 403 && answer.text.contains(code), "\(name): \(answer.text)")
    }
    let two = try await ask(folder, "GET", "/jobs", ["X-Remote-User: bin", "X-Remote-User: daemon"])
    #expect(two.status == 403 && two.text.contains("no_user_named"), "\(two.text)")
    try await daemon.stop()
  }

  @Test("is known by its user: nobody else names users")
  func others() async throws {
    let (folder, daemon) = try await started()
    #expect(chmod(folder.file("s"), 0o666) == 0)
    for user in [UInt32(0), Self.proxy + 1] {
      let host = "Host: localhost"
      let named = try await ask(folder, as: user, "GET", "/jobs", ["X-Remote-User: bin", host])
      #expect(named.status == 403 && named.text.contains("not_the_proxy"), "\(user): \(named.text)")
      let unnamed = try await ask(folder, as: user, "GET", "/jobs", [host])
      #expect(unnamed.status == 403 && unnamed.text.contains("signed_out"), "\(user): \(unnamed.text)")
    }
    try await daemon.stop()
  }
}
