from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="RevisionSourceDto")


@_attrs_define
class RevisionSourceDto:
    """
    Attributes:
        base_revision (None | str):
        kind (str): One of `rollout`, `plan`, `import`.
        operation_id (None | str):
        plan_id (None | str):
    """

    base_revision: None | str
    kind: str
    operation_id: None | str
    plan_id: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        base_revision: None | str
        base_revision = self.base_revision

        kind = self.kind

        operation_id: None | str
        operation_id = self.operation_id

        plan_id: None | str
        plan_id = self.plan_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "base_revision": base_revision,
                "kind": kind,
                "operation_id": operation_id,
                "plan_id": plan_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_base_revision(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        base_revision = _parse_base_revision(d.pop("base_revision"))

        kind = d.pop("kind")

        def _parse_operation_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        operation_id = _parse_operation_id(d.pop("operation_id"))

        def _parse_plan_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        plan_id = _parse_plan_id(d.pop("plan_id"))

        revision_source_dto = cls(
            base_revision=base_revision,
            kind=kind,
            operation_id=operation_id,
            plan_id=plan_id,
        )

        revision_source_dto.additional_properties = d
        return revision_source_dto

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
