public import ArgumentParser
import ControlAPI

/// The target of an import: a recipe, or an entity with options.
struct ImportTarget: ParsableArguments {
  @Option(help: ArgumentHelp("The recipe, which provides the rest.", valueName: "name"), completion: .recipes)
  var recipe: String?

  @Option(
    help: ArgumentHelp("The store (default: the one with the entity).", valueName: "name"), completion: .stores)
  var store: String?

  @Option(
    help: ArgumentHelp(
      "The entity to import into; '*' imports each file of a zip or tar, and each entity of a Core Data store, into the entity "
        + "of its name.",
      valueName: "name"), completion: .entities)
  var entity: String?

  @Option(
    help: ArgumentHelp(
      "insert rejects existing records, upsert updates them, update ignores new records, replace replaces the "
        + "entity's objects by the file, synchronise also deletes objects missing from the file."))
  var mode: ImportMode?

  @Option(
    help: ArgumentHelp(
      "An import option, named as in recipes: 'delimiter=;', dry_run=true, "
        + "properties.born.column=Birth. Repeat it for a list of values.", valueName: "name=value"),
    transform: { try NamedOption(parsing: $0) })
  var option: [NamedOption] = []
}

extension ImportMode: ExpressibleByArgument {}
