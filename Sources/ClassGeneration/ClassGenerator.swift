package import Foundation
import ManagedObjects

/// Writes the classes of a model's objects as Swift source: what Xcode does for “Codegen: Class Definition” and
/// “Category/Extension”.
///
/// The accessors use constant slots, like those written by hand. The article on generated classes documents what the source
/// declares; in short, for an entity `Person` of `Company.xcdatamodeld`:
/// - `class Person: ManagedObject`, with `propertyNames` and `propertyTypes`, which are compared with the model;
/// - a property for each of the entity's own attributes, relationships and fetched properties; composite ones are structs;
/// - `addToProjects(_:)` and similar methods for to-many relationships, with Xcode's names;
/// - `Person.fetchRequest()`;
/// - `CompanyModel.model`, the model with all of these classes, and `CompanyModel.classes`.
///
/// Optionality is Xcode's: numbers and booleans with `usesScalarValueType` aren't optional: they are 0 or false without a value.
/// Everything else but sets is optional, even if the model requires a value, because a new object has none.
///
/// An attribute's user info can ask for another accessor: `accessorType` names a Swift type that conforms to
/// `AttributeValue`; with `accessorDefault`, an expression, the accessor isn't optional. `accessorName` is its name where the
/// attribute's is taken, `documentation` its comment.
package struct ClassGenerator {
  let model: ManagedObjectModel
  /// The name of the enum that holds the model.
  let modelName: String
  private let text: String
  private let fileName: String
  private(set) var plans: [EntityDescription: ClassPlan] = [:]
  /// Names of classes, which shadow types of the same name from other modules.
  private var shadowed: Set<String> = []
  package private(set) var warnings: [String] = []
  /// What somebody may not expect, though it is right.
  package let notes: [String]

  /// - Parameters:
  ///   - xml: the text of the model's `contents` file, which the source embeds.
  ///   - name: the model's name, without extension.
  ///   - module: the module that compiles the source.
  /// - Throws: ``ModelError``, when the model can't be read.
  package init(xml: String, name: String, fileName: String, module: String? = nil) throws {
    text = xml
    self.fileName = fileName
    model = try ManagedObjectModel(xml: xml, file: fileName)
    var warnings = model.warnings.map { warning in (warning.line.map { "line \($0): " } ?? "") + warning.message }
    for entity in model.entities {
      let plan = ClassPlan(entity, module: module) { warnings.append($0) }
      plans[entity] = plan
      if let className = plan.className { shadowed.insert(className) }
    }
    var modelName = SwiftText.name(from: name)
    if !modelName.hasSuffix("Model") { modelName += "Model" }
    while shadowed.contains(modelName) { modelName += "_" }
    self.modelName = modelName
    self.warnings = warnings
    let silent = model.entities.filter { $0.definition.codeGenerationType == nil }.map(\.name)
    notes =
      silent.isEmpty
      ? []
      : [
        "no class is generated for \(silent.joined(separator: ", ")), without codeGenerationType (Codegen “Manual/None”): "
          + "choose “Class Definition” (codeGenerationType=\"class\"), or write the class by hand"
      ]
  }

  /// What is declared together.
  private struct Part {
    let fileName: String
    let access: String
    let lines: [String]
  }

  private var parts: [Part]?

  /// The whole source, as one file.
  package mutating func source() -> String {
    let lines = makeParts().flatMap(\.lines)
    return source(lines, access: access)
  }

  /// The same as several files: one for each entity's class or accessors, one with the composite types and the model's text, and
  /// one with the model's classes.
  package mutating func files() -> [(name: String, source: String)] {
    makeParts().map { ($0.fileName, source($0.lines, access: $0.access)) }
  }

  private mutating func makeParts() -> [Part] {
    if let parts { return parts }
    var made: [Part] = []
    for entity in model.entities {
      guard let plan = plans[entity], plan.kind != .nothing, let className = plan.className else { continue }
      var writer = EntityWriter(plan, className, in: self)
      let name = className + (plan.kind == .accessors ? "Properties" : "") + ".swift"
      made.append(Part(fileName: name, access: plan.access.prefix, lines: writer.lines()))
      warnings += writer.warnings
    }
    let composites = composites().flatMap { name, composite in
      CompositeWriter(name, composite, access: access, in: self).lines()
    }
    made.append(Part(fileName: "\(modelName)Text.swift", access: access, lines: composites + modelLines()))
    made.append(Part(fileName: "\(modelName)Classes.swift", access: access, lines: classLines()))
    parts = made
    return made
  }

  private func source(_ body: [String], access: String) -> String {
    var head = [
      "// Generated from \(fileName) by the plugin ManagedObjectClasses of lade: change the model, not this file.",
      "// swift-format-ignore-file", "",
    ]
    let foreign = Set(plans.values.compactMap(\.foreignModule)).sorted()
    let usesFoundation = body.contains { $0.contains("Foundation.") }
    head += ((usesFoundation ? ["Foundation"] : []) + ["ManagedObjects"] + foreign).map { "\(access)import \($0)" }
    return (head + [""] + (body.last == "" ? Array(body.dropLast()) : body)).joined(separator: "\n") + "\n"
  }

  /// The widest access level in the source.
  private var access: String { (plans.values.filter { $0.className != nil }.map(\.access).max() ?? .public).prefix }

  // MARK: Names

  /// A type of another module, qualified if one of the classes would shadow it.
  func type(_ name: String, of module: String) -> String {
    module == "Foundation" || shadowed.contains(name) ? "\(module).\(name)" : name
  }

  /// Whether one of the model's classes has this name.
  func isClassName(_ name: String) -> Bool { shadowed.contains(name) }

  /// The class of an entity's objects: its own, or the base class.
  func className(of entity: EntityDescription) -> String { plans[entity]?.className ?? "ManagedObject" }

  /// The class that an entity's class inherits from.
  func superclassName(of entity: EntityDescription) -> String {
    var above = entity.superentity
    while let next = above {
      if let name = plans[next]?.className { return name }
      above = next.superentity
    }
    return "ManagedObject"
  }

  // MARK: The model

  private func modelLines() -> [String] {
    let text = SwiftText.block(text)
    return [
      "/// The model \(fileName), and the classes of its objects.",
      "\(access)enum \(modelName) {",
      "  /// The model with its classes: one for the whole program.",
      "  \(access)static let model: ManagedObjectModel = {",
      "    do {",
      "      return try ManagedObjectModel(",
      "        xml: xml, file: \(SwiftText.literal(fileName)), classes: classes, layouts: layouts)",
      "    } catch {",
      "      // It was read without an error when this source was generated from it.",
      "      preconditionFailure(\"\(modelName): \\(error)\")",
      "    }",
      "  }()", "", "  private static let xml = " + text[0],
    ] + text.dropFirst() + ["}", ""]
  }

  private func classLines() -> [String] {
    let typed = model.entities.compactMap { entity in plans[entity]?.className.map { (entity, $0) } }
    let classes = typed.map { "    \(SwiftText.literal($0.0.name)): \($0.1).self," }
    let layouts = typed.filter { plans[$0.0]?.kind == .accessors }.flatMap { entity, _ in
      ["    \(SwiftText.literal(entity.name)): ClassLayout("]
        + SwiftText.list(names(entity), before: "      propertyNames: [", after: "],")
        + SwiftText.list(types(entity), before: "      propertyTypes: [", after: "]),")
    }
    return [
      "extension \(modelName) {",
      "  /// The class of each entity's objects.",
      "  \(access)static let classes: [String: ManagedObject.Type] = [\(classes.isEmpty ? ":" : "")",
    ] + classes + [
      "  ]", "",
      "  /// The slots of the accessors that stand in extensions of classes written by hand.",
      "  \(access)static let layouts: [String: ClassLayout] = [\(layouts.isEmpty ? ":" : "")",
    ] + layouts + ["  ]", "}"]
  }

  /// The names of an entity's properties, as literals.
  func names(_ entity: EntityDescription) -> [String] { entity.properties.map { SwiftText.literal($0.name) } }

  /// The types of an entity's properties, as literals.
  func types(_ entity: EntityDescription) -> [String] {
    entity.properties.map { property -> String in
      switch PropertyType(property) {
      case .attribute(let type): return ".attribute(.\(type))"
      case .toOne(let name): return ".toOne(\(SwiftText.literal(name)))"
      case .toMany(let name): return ".toMany(\(SwiftText.literal(name)))"
      case .toManyOrdered(let name): return ".toManyOrdered(\(SwiftText.literal(name)))"
      }
    }
  }
}

/// The source generated from a model's current version, with its warnings.
package struct GeneratedSource {
  /// The source as one file.
  package let whole: String
  /// The source as several files; see ``ClassGenerator/files()``.
  package let files: [(name: String, source: String)]
  /// Warnings and notes in a compiler's format, each with the file.
  package let messages: [String]

  /// - Throws: ``ModelError``.
  package init(of url: URL, module: String?) throws {
    let (file, xml) = try ManagedObjectModel.currentContents(of: url)
    let name = url.deletingPathExtension().lastPathComponent
    var generator = try ClassGenerator(xml: xml, name: name, fileName: url.lastPathComponent, module: module)
    whole = generator.source()
    files = generator.files()
    messages =
      generator.warnings.map { "\(file.path):1: warning: \($0)" }
      + generator.notes.map { "\(file.path):1: note: \($0)" }
  }
}
