import Foundation
import LadeDaemon
import Testing

/// A configuration file in a folder of its own, removed with it.
final class ConfigurationFile {
  let folder: String
  var path: String { folder + "/lade.yaml" }

  convenience init(_ text: String) throws {
    try self.init(Data(text.utf8))
  }

  init(_ data: Data) throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("lade-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    folder = url.path
    try data.write(to: URL(fileURLWithPath: path))
  }

  deinit {
    do {
      try FileManager.default.removeItem(atPath: folder)
    } catch {
      Issue.record(error)
    }
  }

  func load(_ environment: [String: String] = [:]) throws(ConfigurationProblems) -> DaemonConfiguration {
    try DaemonConfiguration.load(path: path, environment: environment)
  }

  /// Writes a file of the folder beside it.
  func add(_ name: String, _ text: String) throws {
    let extra = path + ".d"
    try FileManager.default.createDirectory(atPath: extra, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(fileURLWithPath: extra + "/" + name))
  }

  /// What is wrong with all layers, a line each, without the folder's name.
  func allProblems(_ environment: [String: String] = [:]) -> [String] {
    do throws(ConfigurationProblems) {
      _ = try load(environment)
      return []
    } catch {
      return error.description.split(separator: "\n").map { $0.replacingOccurrences(of: folder + "/", with: "") }
    }
  }

  /// What is wrong with the file, a line each, without the file's name.
  func problems() -> [String] {
    do throws(ConfigurationProblems) {
      _ = try load()
      return []
    } catch {
      return error.description.split(separator: "\n").map { $0.replacingOccurrences(of: path + ":", with: "") }
    }
  }
}
