import ManagedObjects

/// What is generated for one entity.
struct ClassPlan {
  /// How much of its class is generated: Xcode's `codeGenerationType`.
  enum Kind {
    /// The class and its accessors.
    case whole
    /// The accessors, in an extension; the class is the programmer's.
    case accessors
    /// Nothing.
    case nothing
  }

  let entity: EntityDescription
  let kind: Kind
  /// The name of the class in source; nil if the entity has no class of its own.
  let className: String?
  let access: AccessLevel

  /// - Parameters:
  ///   - module: the module that the classes are generated for. Classes of other modules aren't generated.
  ///   - warn: receives a warning for each thing that can't be generated.
  init(_ entity: EntityDescription, module: String?, warn: (String) -> Void) {
    self.entity = entity
    let definition = entity.definition
    var kind: Kind
    switch definition.codeGenerationType {
    case "class": kind = .whole
    case "category": kind = .accessors
    case nil, "none": kind = .nothing
    case let other?:
      warn("\(entity.name)'s codeGenerationType is “\(other)”; it can be class or category. Nothing is generated")
      kind = .nothing
    }
    var name = definition.className ?? (kind == .nothing ? nil : definition.name)
    if let full = name {
      var parts = full.split(separator: ".", omittingEmptySubsequences: false)
      if parts.count > 1, let module, parts[0] == module { parts.removeFirst() }
      if !parts.allSatisfy({ SwiftText.isName($0) }) {
        warn("\(entity.name)'s class “\(full)” isn't a name in Swift; nothing is generated: give it another one")
        (name, kind) = (nil, .nothing)
      } else {
        name = parts.map { SwiftText.name(String($0)) }.joined(separator: ".")
        if parts.count > 1, kind == .whole {
          warn(
            "\(entity.name)'s class \(full) belongs to another module than \(module ?? "this"), and isn't generated "
              + "here; its Codegen should be Category or Manual")
          kind = .nothing
        }
      }
    }
    if name == "ManagedObject" {
      warn(
        "\(entity.name)'s class can't be named ManagedObject, as the class that all inherit from; nothing is generated")
      (name, kind) = (nil, .nothing)
    }
    let level = entity.userInfo["accessLevel"]
    if let level, AccessLevel(rawValue: level) == nil {
      warn("\(entity.name)'s accessLevel is “\(level)”; it can be public, package or internal. It is taken for public")
    }
    self.kind = kind
    self.className = name
    self.access = level.flatMap(AccessLevel.init) ?? .public
  }

  /// The module that the class belongs to, if its name includes one.
  var foreignModule: String? {
    guard let className, let dot = className.firstIndex(of: ".") else { return nil }
    return String(className[..<dot])
  }
}

/// The access level of a generated class: `accessLevel` in the entity's `userInfo`, `public` by default as in Xcode.
enum AccessLevel: String, Comparable, CaseIterable {
  case `internal`
  case package
  case `public`

  /// The modifier in front of a declaration, with a space.
  var prefix: String { self == .internal ? "" : rawValue + " " }

  static func < (a: AccessLevel, b: AccessLevel) -> Bool { a.rank < b.rank }

  private var rank: Int {
    switch self {
    case .internal: return 0
    case .package: return 1
    case .public: return 2
    }
  }
}
