from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.create_sandbox_dto_labels import CreateSandboxDtoLabels
    from ..models.new_workspace_dto import NewWorkspaceDto


T = TypeVar("T", bound="CreateSandboxDto")


@_attrs_define
class CreateSandboxDto:
    """
    Attributes:
        expires_at (datetime.datetime | Unset): From then on the sandbox and its files are gone. Never, unless given.
        labels (CreateSandboxDtoLabels | Unset):  Example: {'team': 'search'}.
        provider (str | Unset): That of the reference where one is given, else local. One of `local`, `e2b`, `daytona`,
            `custom`.
        reference_id (str | Unset): An active reference: the files of this sandbox are passed on to its external
            sandbox.
        workspace (NewWorkspaceDto | Unset):
    """

    expires_at: datetime.datetime | Unset = UNSET
    labels: CreateSandboxDtoLabels | Unset = UNSET
    provider: str | Unset = UNSET
    reference_id: str | Unset = UNSET
    workspace: NewWorkspaceDto | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        expires_at: str | Unset = UNSET
        if not isinstance(self.expires_at, Unset):
            expires_at = self.expires_at.isoformat()

        labels: dict[str, Any] | Unset = UNSET
        if not isinstance(self.labels, Unset):
            labels = self.labels.to_dict()

        provider = self.provider

        reference_id = self.reference_id

        workspace: dict[str, Any] | Unset = UNSET
        if not isinstance(self.workspace, Unset):
            workspace = self.workspace.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at
        if labels is not UNSET:
            field_dict["labels"] = labels
        if provider is not UNSET:
            field_dict["provider"] = provider
        if reference_id is not UNSET:
            field_dict["reference_id"] = reference_id
        if workspace is not UNSET:
            field_dict["workspace"] = workspace

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.create_sandbox_dto_labels import CreateSandboxDtoLabels
        from ..models.new_workspace_dto import NewWorkspaceDto

        d = dict(src_dict)
        _expires_at = d.pop("expires_at", UNSET)
        expires_at: datetime.datetime | Unset
        if isinstance(_expires_at, Unset):
            expires_at = UNSET
        else:
            expires_at = datetime.datetime.fromisoformat(_expires_at)

        _labels = d.pop("labels", UNSET)
        labels: CreateSandboxDtoLabels | Unset
        if isinstance(_labels, Unset):
            labels = UNSET
        else:
            labels = CreateSandboxDtoLabels.from_dict(_labels)

        provider = d.pop("provider", UNSET)

        reference_id = d.pop("reference_id", UNSET)

        _workspace = d.pop("workspace", UNSET)
        workspace: NewWorkspaceDto | Unset
        if isinstance(_workspace, Unset):
            workspace = UNSET
        else:
            workspace = NewWorkspaceDto.from_dict(_workspace)

        create_sandbox_dto = cls(
            expires_at=expires_at,
            labels=labels,
            provider=provider,
            reference_id=reference_id,
            workspace=workspace,
        )

        create_sandbox_dto.additional_properties = d
        return create_sandbox_dto

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
