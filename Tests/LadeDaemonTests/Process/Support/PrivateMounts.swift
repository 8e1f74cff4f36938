import Foundation
import Glibc
import TestSupport

/// File systems that a daemon's folder is put together of, invisible to others: they are mounted in a namespace that a
/// process of the test's own holds, and are gone with it.
final class PrivateMounts: Sendable {
  /// Whether this process may mount.
  static let arePossible: Bool = {
    guard geteuid() == 0, let program = Products.system("unshare") else { return false }
    let arguments = ["-m", "--propagation", "private", "mount", "-t", "tmpfs", "lade", "/mnt"]
    do { return try ProgramOutput.now(program, arguments).status == 0 } catch { return false }
  }()

  private let folder: DaemonFolder
  private let holder: ChildProcess

  /// - Parameter commands: of a shell, in the daemon's folder.
  init(in folder: DaemonFolder, _ commands: String) async throws {
    self.folder = folder
    guard let unshare = Products.system("unshare") else {
      throw ProgramFailure(program: "unshare", arguments: [], what: "it isn't installed", error: "")
    }
    let watch = try FolderWatch(folder.path)
    holder = try ChildProcess(
      unshare,
      [
        "-m", "--propagation", "private", "/bin/sh", "-ec",
        "cd '\(folder.path)'; \(commands); touch mounted; exec sleep infinity",
      ],
      environment: Products.environment([:]), files: folder.nextRun())
    try await watch.appearance(of: "mounted")
  }

  /// For ``DaemonFolder/launch(_:by:)``: so the daemon is in the namespace.
  var prefix: [String] {
    [Products.system("nsenter")?.path ?? "nsenter", "-t", "\(holder.pid)", "-m"]
  }

  /// Runs a shell's commands in the namespace, in the daemon's folder.
  func run(_ commands: String) async throws {
    let words = prefix + ["/bin/sh", "-ec", "cd '\(folder.path)'; \(commands)"]
    let run = try await ProgramOutput.of(
      URL(fileURLWithPath: words[0]), Array(words.dropFirst()), environment: Products.environment([:]),
      files: folder.nextRun())
    guard run.status == 0 else {
      throw ProgramFailure(program: "sh", arguments: [commands], what: "status \(run.status)", error: run.error)
    }
  }

  /// A file of the folder as it is in the namespace.
  func file(_ name: String) -> String { "/proc/\(holder.pid)/root" + folder.file(name) }

  func text(_ name: String) throws -> String { try String(contentsOfFile: file(name), encoding: .utf8) }
  func names(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: file(folder)).sorted()
  }

  /// Hands a file over as a writer should where `tmp/` is another file system: under a dot name, then renamed.
  func drop(_ text: String, as name: String, into place: String) throws {
    let folder = file("spool/incoming/" + place)
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/." + name))
    guard rename(folder + "/." + name, folder + "/" + name) == 0 else {
      throw POSIXError(.init(rawValue: errno) ?? .EIO)
    }
  }
}
