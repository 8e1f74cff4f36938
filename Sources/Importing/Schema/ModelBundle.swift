// A new version appears as a whole or not at all, and becomes current in a step of its own:
//
//   .xccurrentversion names the version that was the only one      (only where there is none yet)
//   .NAME.evolving/contents, /evolution.json                       synced; a leftover of a kill is removed first
//   .NAME.evolving ─rename─▶ NAME.xcdatamodel, the folder synced
//   .xccurrentversion is replaced by a rename, the folder synced
//
// A kill before the last rename leaves a version that nothing uses, and that the next try takes if it is the same. After it,
// a store is migrated when it is opened.

import Foundation
import Glibc
package import ManagedObjects

/// The versions of a model: a folder that ends in `.xcdatamodeld`, to which imports may add.
package struct ModelBundle: Sendable {
  /// Why a version was made, in its folder.
  package struct Evolution: Codable, Sendable, Hashable {
    /// The version before it.
    package var former: String
    /// The job that made it, with its queue.
    package var job: String
    package var source: String
    package var changes: [String]

    package init(former: String, job: String, source: String, changes: [String]) {
      self.former = former
      self.job = job
      self.source = source
      self.changes = changes
    }
  }

  private static let ending = ".xcdatamodel"
  private static let marker = ".xccurrentversion"
  private static let evolution = "evolution.json"
  private static let contents = "contents"
  /// More are probably a mistake, such as two sources that disagree.
  private static let mostVersions = 1_000

  package let path: String

  package init(_ path: String) { self.path = path.hasSuffix("/") ? String(path.dropLast()) : path }

  /// The name of the current version.
  /// - Throws: ``MappingError``.
  package func current() throws(MappingError) -> String {
    let versions = try versions()
    if let data = FileManager.default.contents(atPath: "\(path)/\(Self.marker)") {
      do {
        let list = try PropertyListSerialization.propertyList(from: data, format: nil)
        if let name = (list as? [String: Any])?["_XCCurrentVersionName"] as? String, versions.contains(name) {
          return name
        }
      } catch {
        throw .cannotEvolve(reason: "\(path)/\(Self.marker) isn't a property list")
      }
      throw .cannotEvolve(reason: "\(path)/\(Self.marker) names no version that is there")
    }
    guard let only = versions.first, versions.count == 1 else {
      throw .cannotEvolve(reason: "\(path) isn't a folder with a current version")
    }
    return only
  }

  /// What made a version; nil if it wasn't an import.
  package func evolution(of version: String) -> Evolution? {
    guard let data = FileManager.default.contents(atPath: "\(path)/\(version)/\(Self.evolution)") else { return nil }
    do {
      return try JSONDecoder().decode(Evolution.self, from: data)
    } catch {
      // Somebody else wrote it, so nothing is known.
      return nil
    }
  }

  /// The model of a version.
  package func model(of version: String) throws -> ManagedObjectModel {
    try ManagedObjectModel(contentsOf: URL(fileURLWithPath: "\(path)/\(version)"))
  }

  /// Adds a version, which isn't current yet, and returns its name. The same version, left by a try that was killed or taken
  /// back, is used again.
  package func add(_ xml: String, _ evolution: Evolution) throws(MappingError) -> String {
    let versions = try versions()
    for version in versions.sorted()
    where self.evolution(of: version)?.former == evolution.former
      && FileManager.default.contents(atPath: "\(path)/\(version)/\(Self.contents)") == Data(xml.utf8)
    {
      try write(Self.evolutionText(evolution), to: Self.evolution, in: "\(path)/\(version)")
      return version
    }
    guard versions.count < Self.mostVersions else {
      throw .cannotEvolve(reason: "\(path) has \(versions.count) versions: remove those that no store needs")
    }
    if !FileManager.default.fileExists(atPath: "\(path)/\(Self.marker)") { try makeCurrent(evolution.former) }
    let base = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
    var number = versions.count + 1
    while versions.contains("\(base) \(number)\(Self.ending)") { number += 1 }
    let name = "\(base) \(number)\(Self.ending)"
    let draft = "\(path)/.\(base) \(number).evolving"
    if FileManager.default.fileExists(atPath: draft) {
      do {
        try FileManager.default.removeItem(atPath: draft)
      } catch {
        throw .fileFailed(path: draft, operation: "remove", reason: error.localizedDescription)
      }
    }
    guard mkdir(draft, 0o755) == 0 else { throw .file(draft, "make", code: errno) }
    try write(Data(xml.utf8), to: Self.contents, in: draft)
    try write(Self.evolutionText(evolution), to: Self.evolution, in: draft)
    guard rename(draft, "\(path)/\(name)") == 0 else { throw .file(draft, "rename", code: errno) }
    try sync(path)
    return name
  }

  /// Has stores be opened with a version from now on.
  package func makeCurrent(_ version: String) throws(MappingError) {
    let list = ["_XCCurrentVersionName": version]
    let data: Data
    do {
      data = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
    } catch {
      throw .cannotEvolve(reason: "the name \(version) can't be written")
    }
    try write(data, to: Self.marker, in: path)
  }

  private func versions() throws(MappingError) -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(Self.ending) }
    } catch {
      throw .fileFailed(path: path, operation: "list", reason: error.localizedDescription)
    }
  }

  private static func evolutionText(_ evolution: Evolution) throws(MappingError) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    do {
      return try encoder.encode(evolution)
    } catch {
      throw .cannotEvolve(reason: "what changes can't be written: \(error)")
    }
  }

  // MARK: Durable files

  /// Replaces a file, durably.
  private func write(_ data: Data, to name: String, in folder: String) throws(MappingError) {
    let (final, draft) = ("\(folder)/\(name)", "\(folder)/.\(name).new")
    guard unlink(draft) == 0 || errno == ENOENT else { throw .file(draft, "remove", code: errno) }
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard descriptor >= 0 else { throw .file(draft, "make", code: errno) }
    defer { close(descriptor) }
    var code: Int32 = 0
    data.withUnsafeBytes { bytes in
      var written = 0
      while written < bytes.count, code == 0 {
        let count = Glibc.write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
        if count >= 0 { written += count } else if errno != EINTR { code = errno }
      }
    }
    if code == 0, fsync(descriptor) != 0 { code = errno }
    if code == 0, rename(draft, final) != 0 { code = errno }
    guard code == 0 else {
      unlink(draft)
      throw .file(final, "write", code: code)
    }
    try sync(folder)
  }

  private func sync(_ folder: String) throws(MappingError) {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .file(folder, "open", code: errno) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .file(folder, "sync", code: errno) }
  }
}
