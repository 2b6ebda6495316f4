from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.system_operations_dto import SystemOperationsDto
    from ..models.system_outbox_dto import SystemOutboxDto


T = TypeVar("T", bound="SystemQueueDto")


@_attrs_define
class SystemQueueDto:
    """
    Attributes:
        backend (str): One of `postgres`, `redis`.
        operations (SystemOperationsDto):
        outbox (SystemOutboxDto):
    """

    backend: str
    operations: SystemOperationsDto
    outbox: SystemOutboxDto
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        backend = self.backend

        operations = self.operations.to_dict()

        outbox = self.outbox.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "backend": backend,
                "operations": operations,
                "outbox": outbox,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.system_operations_dto import SystemOperationsDto
        from ..models.system_outbox_dto import SystemOutboxDto

        d = dict(src_dict)
        backend = d.pop("backend")

        operations = SystemOperationsDto.from_dict(d.pop("operations"))

        outbox = SystemOutboxDto.from_dict(d.pop("outbox"))

        system_queue_dto = cls(
            backend=backend,
            operations=operations,
            outbox=outbox,
        )

        system_queue_dto.additional_properties = d
        return system_queue_dto

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
