/// Placeholder until the object layer's next commit.
open class ManagedObject {}
