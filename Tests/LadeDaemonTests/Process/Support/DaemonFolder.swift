import ControlAPI
import Foundation
import Synchronization
import TestSupport

/// Everything of one private daemon: configuration, model, spool, state, store, socket. Gone with this.
final class DaemonFolder: Sendable {
  let path: String
  private let runs = Mutex(0)

  /// - Parameters:
  ///   - recipes: lines under `recipes:`, with their indentation; store and entity included.
  ///   - more: further lines of the configuration.
  init(model: ModelText, recipes: String = "", more: String = "") throws {
    path = try Self.make()
    try model.write(to: path + "/Model.xcdatamodeld")
    try write(
      """
      spool: spool
      state: state
      socket: s
      stores: { main: { path: main.sqlite, model: Model.xcdatamodeld } }
      \(recipes.isEmpty ? "" : "recipes:\n\(recipes)")
      \(more)
      """, to: "lade.yaml")
  }

  /// A folder with all that another has, whose daemon has stopped.
  init(copying other: DaemonFolder) throws {
    path = try Self.make()
    for name in ["lade.yaml", "Model.xcdatamodeld", "main.sqlite", "spool", "state"]
    where FileManager.default.fileExists(atPath: other.file(name)) {
      try FileManager.default.copyItem(atPath: other.file(name), toPath: file(name))
    }
  }

  private static func make() throws -> String {
    var template = Array((NSTemporaryDirectory() + "/laded-XXXXXX").utf8CString)
    guard let made = mkdtemp(&template) else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    return URL(fileURLWithPath: String(cString: made)).resolvingSymlinksInPath().path
  }

  deinit {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      print("couldn't remove \(path): \(error)")
    }
  }

  // MARK: The daemon

  /// Starts a daemon, and doesn't wait until it is up.
  /// - Parameter prefix: a program that becomes the daemon, and its arguments.
  func launch(_ environment: [String: String] = [:], by prefix: [String] = []) throws -> DaemonProcess {
    try DaemonProcess(configuration: file("lade.yaml"), files: nextRun(), environment: environment, by: prefix)
  }

  /// Starts a daemon, and waits until it is up.
  func start(by prefix: [String] = []) async throws -> DaemonProcess {
    let daemon = try launch(by: prefix)
    try await daemon.ready()
    return daemon
  }

  // MARK: Files

  func file(_ name: String) -> String { path + "/" + name }

  @discardableResult
  func write(_ text: String, to name: String) throws -> String {
    try write(Data(text.utf8), to: name)
  }

  @discardableResult
  func write(_ data: Data, to name: String) throws -> String {
    try data.write(to: URL(fileURLWithPath: file(name)))
    return file(name)
  }

  func text(_ name: String) throws -> String { try String(contentsOfFile: file(name), encoding: .utf8) }
  func data(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: file(name))) }

  /// The names in a folder, in order.
  func names(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: file(folder)).sorted()
  }

  /// Hands a file over as a writer should: written in `tmp/`, then renamed.
  /// - Parameter place: a recipe's name, or empty for `incoming/` itself.
  func drop(_ data: Data, as name: String, into place: String) throws {
    let folder = file("spool/incoming/" + place)
    for each in [file("spool/tmp"), folder] {
      try FileManager.default.createDirectory(atPath: each, withIntermediateDirectories: true)
    }
    try write(data, to: "spool/tmp/" + name)
    try waitForWritersToGo(of: file("spool/tmp/" + name))
    guard rename(file("spool/tmp/" + name), folder + "/" + name) == 0 else {
      throw POSIXError(.init(rawValue: errno) ?? .EIO)
    }
  }

  func drop(_ text: String, as name: String, into place: String) throws {
    try drop(Data(text.utf8), as: name, into: place)
  }

  // MARK: Programs

  /// Runs `ladectl` on the daemon's socket.
  func ladectl(_ arguments: String...) async throws -> ProgramOutput { try await ladectl(arguments) }

  func ladectl(_ arguments: [String], environment: [String: String] = [:]) async throws -> ProgramOutput {
    try await ProgramOutput.of(
      Products.ladectl, arguments,
      environment: Products.environment(environment.merging(["LADE_SOCKET": file("s")]) { $1 }), files: nextRun())
  }

  /// What `sqlite3`, which knows nothing of Lade, reads in the store: a line a row, values as SQL literals.
  func sqlite(_ query: String, in database: String = "main.sqlite") async throws -> String {
    guard let sqlite = Products.system("sqlite3") else {
      throw ProgramFailure(program: "sqlite3", arguments: [], what: "it isn't installed: run make deps", error: "")
    }
    let arguments = ["-cmd", ".timeout 60000", "-cmd", ".mode quote", file(database), query]
    let run = try await ProgramOutput.of(sqlite, arguments, environment: Products.environment([:]), files: nextRun())
    guard run.status == 0, run.error.isEmpty else {
      throw ProgramFailure(program: "sqlite3", arguments: [query], what: "status \(run.status)", error: run.error)
    }
    return run.text.hasSuffix("\n") ? String(run.text.dropLast()) : run.text
  }

  /// What the files of the next program's output are called.
  func nextRun() -> String {
    runs.withLock { number in
      number += 1
      return file("run-\(number)")
    }
  }
}
