import Foundation

/// Finds the file of a model in any of Xcode's layouts.
///
/// - `X.xcdatamodeld`: a folder of versions, each an `.xcdatamodel`; `.xccurrentversion` names the current one.
/// - `X.xcdatamodel`: a folder with the file `contents`.
/// - the `contents` file itself.
/// - an `.xcdatamodel` of Xcode 3: a folder with the file `elements`.
/// - `X.momd`: a folder of compiled versions, each a `.mom`; `VersionInfo.plist` names the current one.
/// - `X.mom`: a compiled model.
enum ModelLocation {
  /// A model's file.
  enum Found {
    /// The `contents` file, in XML.
    case source(URL)
    case compiled(URL)
    /// The `elements` file of Xcode 3.
    case elements(URL)
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
    default:
      let version = try version(of: url)
      if let elements = elements(in: version) { return .elements(elements) }
      return .source(try contentsFile(in: version))
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
    let version = try version(of: url)
    guard elements(in: version) == nil else {
      throw ModelError.unreadable(
        path: version.path,
        reason: "a model of Xcode 3 has no file “contents”; convert it by “ladectl model convert” first")
    }
    return try contentsFile(in: version)
  }

  /// The folder of the version to read, or the file that `url` names itself.
  private static func version(of url: URL) throws -> URL {
    guard try isFolder(url), url.pathExtension != "xcdatamodel" else { return url }
    let contents = url.appendingPathComponent("contents")
    return FileManager.default.fileExists(atPath: contents.path) ? url : try currentVersion(of: url)
  }

  /// The file that Xcode 3 keeps a model in, if it did so in this version.
  private static func elements(in version: URL) -> URL? {
    if version.lastPathComponent == "elements" { return version }
    let elements = version.appendingPathComponent("elements")
    let contents = version.appendingPathComponent("contents")
    let files = FileManager.default
    return files.fileExists(atPath: elements.path) && !files.fileExists(atPath: contents.path) ? elements : nil
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

  private static func contentsFile(in version: URL) throws -> URL {
    guard try isFolder(version) else { return version }
    let contents = version.appendingPathComponent("contents")
    guard FileManager.default.fileExists(atPath: contents.path) else {
      throw ModelError.unreadable(
        path: version.path,
        reason: "there is neither a file “contents” in it nor, as Xcode 3 wrote it, a file “elements”")
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
