public import Foundation

extension ManagedObjectModel {
  /// Reads a model that Xcode wrote.
  ///
  /// Parts of the file that this library doesn't know are listed in ``warnings``. An entity, attribute or relationship without
  /// `optional` isn't optional: that is the file format's default, and the opposite of the default in code.
  ///
  /// Source: the format of Xcode 4 and later; `NSManagedObjectModel.init(contentsOf:)`, which reads its compiled form.
  ///
  /// - Parameters:
  ///   - url: an `.xcdatamodeld` (its current version is read), an `.xcdatamodel`, or the `contents` file in one.
  ///   - classes: the class of each entity's objects, by the entity's name or its `representedClassName`. Leave
  ///     out the latter's leading dot, which stands for the current module.
  ///   - layouts: the slots of accessors in extensions, by the entity's name; see ``ClassLayout``.
  /// - Throws: ``ModelError``: unreadable, malformed with file and line, or inconsistent.
  public convenience init(
    contentsOf url: URL, classes: [String: ManagedObject.Type] = [:], layouts: [String: ClassLayout] = [:]
  ) throws {
    let file = try ModelLocation.contentsFile(of: url)
    let data = try ModelFile.read(file, limit: ModelXML.sizeLimit)
    try self.init(data, file: file.path, classes: classes, layouts: layouts)
  }

  /// Reads a model from the text of its `contents` file, for programs that embed their model, as generated code does.
  ///
  /// - Parameters:
  ///   - file: the name to use in errors and warnings.
  ///   - classes: as for ``init(contentsOf:classes:layouts:)``.
  /// - Throws: ``ModelError``: malformed with the line, or inconsistent.
  public convenience init(
    xml text: String, file: String, classes: [String: ManagedObject.Type] = [:], layouts: [String: ClassLayout] = [:]
  ) throws {
    try self.init(Data(text.utf8), file: file, classes: classes, layouts: layouts)
  }

  private convenience init(
    _ data: Data, file: String, classes: [String: ManagedObject.Type], layouts: [String: ClassLayout]
  ) throws {
    let contents = try ModelReader.read(try ModelXML.parse(data, file: file), file: file)
    try self.init(
      entities: contents.entities, configurations: contents.configurations,
      fetchRequestTemplates: contents.templates, versionIdentifier: contents.versionIdentifier, classes: classes,
      layouts: layouts, warnings: contents.warnings)
  }

  /// The versions of a model, by name: the `.xcdatamodel` folders of an `.xcdatamodeld`, or the one model that `url` is.
  ///
  /// - Throws: ``ModelError/unreadable(path:reason:)`` if there is no model.
  public static func versions(of url: URL) throws -> [String: URL] { try ModelLocation.versions(of: url) }
}

extension ManagedObjectModel {
  /// The `contents` file of a model's current version, and its text.
  /// - Throws: ``ModelError/unreadable(path:reason:)``.
  package static func currentContents(of url: URL) throws -> (file: URL, text: String) {
    let file = try ModelLocation.contentsFile(of: url)
    let data = try ModelFile.read(file, limit: ModelXML.sizeLimit)
    return (file, String(decoding: data, as: UTF8.self))
  }
}
