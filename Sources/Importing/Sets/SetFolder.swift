import Foundation
import Glibc
package import LadeTypes
package import ManagedObjects

/// A folder with the files of a set, which is imported as a feed is: each file into its entity.
final class SetFolder: IdentifiedSource {
  /// The files with records, and the control file.
  let parts: FileSetParts
  let set: FileSet
  private let folder: URL

  /// - Throws: ``SetFault``, or ``MappingError/fileFailed(path:operation:reason:)``.
  init(_ folder: URL, _ set: FileSet) throws {
    self.folder = folder
    self.set = set
    let names = try Self.names(in: folder)
    do throws(FileSetProblem) {
      parts = try set.parts(of: names)
    } catch {
      throw SetFault.files(error)
    }
  }

  /// The names in a folder, without what begins with a dot, such as a ticket.
  /// - Throws: ``MappingError/fileFailed(path:operation:reason:)``.
  private static func names(in folder: URL) throws -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !$0.hasPrefix(".") }.sorted()
    } catch {
      throw MappingError.fileFailed(path: folder.path, operation: "list", reason: error.localizedDescription)
    }
  }

  func url(of name: String) -> URL { folder.appendingPathComponent(name) }

  /// Opens one of its files.
  func open(_ name: String) throws -> ImportSource { try ImportSource(url(of: name)) }

  /// The contents of a small file.
  /// - Parameter limit: bytes; of a longer file one more than that.
  func bytes(of name: String, limit: Int) throws -> [UInt8] {
    let source = try open(name)
    return try PlainSource(descriptor: source.descriptor).readSample(limit + 1)
  }

  /// The identities of all its files, as a hash.
  func identity() throws -> String {
    var hash = SHA256()
    for part in parts.parts {
      let text = "\(part.name)\0\(try open(part.name).identity())\0"
      Array(text.utf8).withUnsafeBytes { hash.update($0) }
    }
    return "\(parts.parts.count) files, \(hash.finish().hexadecimal)"
  }

  func digest(shouldStop: () -> Bool) throws -> String? {
    var hash = SHA256()
    for part in parts.parts {
      guard let digest = try open(part.name).digest(shouldStop: shouldStop) else { return nil }
      Array("\(part.plainName)\0\(digest)\0".utf8).withUnsafeBytes { hash.update($0) }
    }
    return hash.finish().hexadecimal
  }

  /// The length of a file; 0 if it can't be read.
  func length(of part: FileSetParts.Part) -> Int64 { ImportSource.length(of: url(of: part.name)) ?? 0 }
}

extension FileSet {
  /// The entity of each part.
  /// - Throws: ``SetFault/noEntity(file:known:)``.
  func entities(of parts: [FileSetParts.Part], among entities: [EntityDescription]) throws(SetFault)
    -> [EntityDescription]
  {
    let matching = FileMatching(entities)
    var found: [EntityDescription] = []
    for part in parts {
      let entity =
        if let name = part.entity { entities.first { $0.name == name } } else { matching.entity(of: part.plainName) }
      guard let entity, !entity.isAbstract else {
        throw .noEntity(file: part.entity ?? part.plainName, known: entities.map(\.name))
      }
      found.append(entity)
    }
    return found
  }

  /// Refuses a set whose files can belong to no entity, before there is any.
  package func check(against entities: [EntityDescription]) throws(SetFault) {
    let parts = members.map {
      FileSetParts.Part(name: "", plainName: $0.pattern.plainName, entity: $0.entity, checksumFile: nil)
    }
    _ = try self.entities(of: parts, among: entities)
  }
}
