"""The papers that the reference implements, reproduced: printed figures beside ours."""
