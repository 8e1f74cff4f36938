import Foundation

/// Finds the file of a model in any of Xcode's layouts.
///
/// - `X.xcdatamodeld`: a folder of versions, each an `.xcdatamodel`; `.xccurrentversion` names the current one.
/// - `X.xcdatamodel`: a folder with the file `contents`.
/// - the `contents` file itself.
/// - `X.momd`: a folder of compiled versions, each a `.mom`; `VersionInfo.plist` names the current one.
/// - `X.mom`: a compiled model.
enum ModelLocation {
  /// A model's file.
  enum Found {
    /// The `contents` file, in XML.
    case source(URL)
    case compiled(URL)
  }

  /// The file for `url`: the current version's if there are several.
  /// - Throws: ``ModelError``.
  static func file(of url: URL) throws -> Found {
    switch url.pathExtension.lowercased() {
    case "momd": return .compiled(try currentCompiledVersion(of: url))
    case "mom": return .compiled(url)
    case "omo":
      // The optimised form is laid out as Core Data's memory; the compiler writes the archive beside it.
      let archive = url.deletingPathExtension().appendingPathExtension("mom")
      guard FileManager.default.fileExists(atPath: archive.path) else {
        throw ModelError.unreadable(
          path: url.path,
          reason: "an .omo is a model in a form for Apple's systems; give the .mom or .momd that came with it")
      }
      return .compiled(archive)
    default: return .source(try contentsFile(of: url))
    }
  }

  /// The `contents` file for `url`: the current version's if there are several.
  /// - Throws: ``ModelError``.
  static func contentsFile(of url: URL) throws -> URL {
    if ["mom", "momd", "omo"].contains(url.pathExtension.lowercased()) {
      throw ModelError.unreadable(
        path: url.path,
        reason:
          "classes are made from a model's source; give the .xcdatamodeld or .xcdatamodel that it was compiled from, "
          + "or convert it by “ladectl model convert”")
    }
    guard try isFolder(url) else { return url }
    let contents = url.appendingPathComponent("contents")
    if FileManager.default.fileExists(atPath: contents.path) { return contents }
    if url.pathExtension == "xcdatamodel" {
      throw ModelError.unreadable(
        path: url.path,
        reason: "there is no file “contents” in it; a model of Xcode 3 has to be saved by a later Xcode first")
    }
    return try contentsFile(ofVersion: try currentVersion(of: url))
  }

  /// The versions in a folder of versions, by name without the extension.
  static func versions(of url: URL) throws -> [String: URL] {
    let isCompiled = url.pathExtension.lowercased() == "momd"
    guard try isFolder(url), url.pathExtension != "xcdatamodel" else {
      return [url.deletingPathExtension().lastPathComponent: url]
    }
    let entries: [URL]
    do {
      entries = try FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)
    } catch {
      throw ModelError.unreadable(path: url.path, reason: error.localizedDescription)
    }
    let models = entries.filter { $0.pathExtension == (isCompiled ? "mom" : "xcdatamodel") }
    guard !models.isEmpty else {
      throw ModelError.unreadable(path: url.path, reason: "there is no model in this folder")
    }
    return Dictionary(
      models.map { ($0.deletingPathExtension().lastPathComponent, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The version that `.xccurrentversion` names, or the only one.
  private static func currentVersion(of url: URL) throws -> URL {
    let versions = try versions(of: url)
    let marker = url.appendingPathComponent(".xccurrentversion")
    guard FileManager.default.fileExists(atPath: marker.path) else {
      if versions.count == 1, let only = versions.values.first { return only }
      throw ModelError.unreadable(
        path: url.path,
        reason: "none of its versions is marked as current: give the path of one of \(list(versions))")
    }
    let name = try currentVersionName(in: marker)
    // Looking the name up among those found keeps it from leading out of the folder.
    guard let version = versions.values.first(where: { $0.lastPathComponent == name }) else {
      throw ModelError.unreadable(
        path: url.path, reason: "the current version is “\(name)”, which isn't there; there is \(list(versions))")
    }
    return version
  }

  /// The version that `VersionInfo.plist` names, or the only one.
  private static func currentCompiledVersion(of url: URL) throws -> URL {
    let versions = try versions(of: url)
    let marker = url.appendingPathComponent("VersionInfo.plist")
    guard FileManager.default.fileExists(atPath: marker.path) else {
      if versions.count == 1, let only = versions.values.first { return only }
      throw ModelError.unreadable(
        path: url.path,
        reason: "VersionInfo.plist, which names the current version, is missing: give one of \(list(versions))")
    }
    let name = try string("NSManagedObjectModel_CurrentVersionName", in: marker)
    guard let version = versions[name] else {
      throw ModelError.unreadable(
        path: url.path, reason: "the current version is “\(name)”, which isn't there; there is \(list(versions))")
    }
    return version
  }

  private static func currentVersionName(in marker: URL) throws -> String {
    try string("_XCCurrentVersionName", in: marker)
  }

  /// A string of a property list.
  private static func string(_ key: String, in marker: URL) throws -> String {
    let data = try ModelFile.read(marker, limit: 1 << 20)
    let list: Any
    do {
      list = try PropertyListSerialization.propertyList(from: data, format: nil)
    } catch {
      throw ModelError.mistake(
        file: marker.path, line: 1, reason: "not a property list: \(error.localizedDescription)")
    }
    guard let name = (list as? [String: Any])?[key] as? String else {
      throw ModelError.mistake(
        file: marker.path, line: 1, reason: "the property list has no string \(key)")
    }
    return name
  }

  private static func contentsFile(ofVersion version: URL) throws -> URL {
    let contents = version.appendingPathComponent("contents")
    guard FileManager.default.fileExists(atPath: contents.path) else {
      throw ModelError.unreadable(path: version.path, reason: "there is no file “contents” in it")
    }
    return contents
  }

  private static func isFolder(_ url: URL) throws -> Bool {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
      throw ModelError.unreadable(path: url.path, reason: "there is no such file or folder")
    }
    return isFolder.boolValue
  }

  private static func list(_ versions: [String: URL]) -> String {
    versions.keys.sorted { $0.compare($1, options: .numeric) == .orderedAscending }.joined(separator: ", ")
  }
}

/// Reads the small files of a model.
enum ModelFile {
  /// The bytes of a regular file of at most `limit` bytes.
  /// - Throws: ``ModelError/unreadable(path:reason:)``.
  static func read(_ url: URL, limit: Int) throws -> Data {
    do {
      // Opening a FIFO or device could block, so check the file's type first.
      let facts = try FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path)
      guard facts[.type] as? FileAttributeType == .typeRegular else {
        throw ModelError.unreadable(path: url.path, reason: "it isn't a regular file")
      }
      let handle = try FileHandle(forReadingFrom: url)
      defer { handle.closeFile() }
      let data = try handle.read(upToCount: limit + 1) ?? Data()
      guard data.count <= limit else {
        throw ModelError.unreadable(
          path: url.path, reason: "it is larger than \(limit >> 20) MiB, the most that is read")
      }
      return data
    } catch let error as ModelError {
      throw error
    } catch {
      throw ModelError.unreadable(path: url.path, reason: error.localizedDescription)
    }
  }
}
